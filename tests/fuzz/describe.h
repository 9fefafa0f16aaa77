// A DLTensor with every field from the fuzzer's bytes. Its arrays are exactly as long as ndim says, each in a piece of memory of its
// own, so that AddressSanitizer sees a read past the end; an array that is missing is NULL. Other wrong pointers nobody can refuse.
#ifndef DLX_TESTS_FUZZ_DESCRIBE_H_
#define DLX_TESTS_FUZZ_DESCRIBE_H_

#include "host.h"
#include "reader.h"

inline int64_t* make_array(Reader& reader, int32_t length) {
  auto* array = static_cast<int64_t*>(std::malloc(sizeof(int64_t) * (length > 0 ? length : 0)));
  for (int32_t i = 0; i < length; ++i) array[i] = i < 12 ? reader.number() : 1;
  return array;
}

inline int32_t make_ndim(Reader& reader) {
  const uint8_t kind = reader.byte();
  if (kind < 240) return kind % 6;
  if (kind < 248) return reader.byte();
  return kind < 252 ? 12 : static_cast<int32_t>(reader.number());
}

inline void describe_shape(Reader& reader, DLTensor* tensor) {
  tensor->ndim = make_ndim(reader);
  // So large an array nobody has.
  if (tensor->ndim > 300) tensor->ndim = -tensor->ndim;
  tensor->shape = reader.once_in(64) ? nullptr : make_array(reader, tensor->ndim);
  tensor->strides = reader.once_in(2) ? nullptr : make_array(reader, tensor->ndim);
}

inline void free_shape(DLTensor* tensor) {
  std::free(tensor->shape);
  std::free(tensor->strides);
}

inline DLDataType make_dtype(Reader& reader) {
  const uint8_t kind = reader.byte();
  if (kind < 240) return g_host.dtypes[kind % g_host.dtype_count];
  return {reader.byte(), reader.byte(), static_cast<uint16_t>(kind < 248 ? 1 : reader.bits(2))};
}

inline DLDevice make_device(Reader& reader) {
  const uint8_t kind = reader.byte();
  if (kind < 160) return {kDLCPU, 0};
  const auto id = static_cast<int32_t>(reader.number());
  if (kind < 192) return {static_cast<DLDeviceType>(g_host.accelerator), id};
  return {static_cast<DLDeviceType>(kind < 240 ? kind % 20 : reader.number()), id};
}

inline void* make_data(Reader& reader) {
  static char memory[4096];
  const uint8_t kind = reader.byte();
  if (kind < 200) return memory + kind;
  return kind < 220 ? nullptr : reinterpret_cast<void*>(reader.number());
}

inline uint64_t make_byte_offset(Reader& reader) {
  return reader.once_in(4) ? static_cast<uint64_t>(reader.number()) : 0;
}

inline DLTensor describe(Reader& reader) {
  DLTensor tensor = {};
  describe_shape(reader, &tensor);
  tensor.dtype = make_dtype(reader);
  tensor.device = make_device(reader);
  tensor.data = make_data(reader);
  tensor.byte_offset = make_byte_offset(reader);
  return tensor;
}

#endif  // DLX_TESTS_FUZZ_DESCRIBE_H_

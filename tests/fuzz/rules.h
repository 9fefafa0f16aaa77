// What a description of memory may get for an answer, worked out apart from cpp/src, in 128 bits, and what a tensor of it looks like.
#ifndef DLX_TESTS_FUZZ_RULES_H_
#define DLX_TESTS_FUZZ_RULES_H_

#include <vector>

#include "host.h"

using Wide = __int128;

inline bool is_host_memory(int32_t device) {
  return device == kDLCPU || device == kDLCUDAHost || device == kDLROCMHost;
}

inline bool is_accelerator(int32_t device) {
  return device != 0 && (device == g_host.accelerator || device == g_host.managed);
}

inline bool has_dtype(DLDataType asked) {
  for (int32_t i = 0; i < g_host.dtype_count; ++i) {
    if (std::memcmp(&g_host.dtypes[i], &asked, sizeof(asked)) == 0) return true;
  }
  return false;
}

// The kinds of error that a description gives cause for, as bits; with none of them it has to be accepted.
struct Rules {
  unsigned kinds = 0;
  Wide bytes = 0;  // from the first byte to the end of the last element; valid without a ValueError
  bool empty = false;
};

inline void add_layout_rules(const DLTensor& tensor, Rules* rules) {
  constexpr Wide kMost = INT64_MAX;
  const Wide element = (Wide{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    rules->kinds |= kValue;
    return;
  }
  Wide product = 1, last = 0;
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    const int64_t size = tensor.shape[i];
    if (size < 0) rules->kinds |= kValue;
    if (size == 0) rules->empty = true;
    if (size > 0 && product <= kMost) product *= size;
    if (tensor.strides == nullptr) continue;
    if (tensor.strides[i] < 0) rules->kinds |= kValue;
    if (size > 0 && tensor.strides[i] > 0 && last <= kMost) last += Wide{size - 1} * tensor.strides[i];
  }
  if (tensor.strides == nullptr) last = product - 1;
  // The first two, so that the product cannot leave 128 bits.
  if (product > kMost || last > kMost || (last + 1) * element > kMost)
    rules->kinds |= kValue;
  else
    rules->bytes = rules->empty ? 0 : (last + 1) * element;
}

inline void add_memory_rules(const DLTensor& tensor, Rules* rules) {
  if (tensor.data == nullptr && !rules->empty) rules->kinds |= kValue;
  const Wide end = Wide{reinterpret_cast<uintptr_t>(tensor.data)} + Wide{tensor.byte_offset} + rules->bytes;
  if (end > Wide{UINT64_MAX}) rules->kinds |= kValue;
}

inline void add_device_rules(DLDevice device, Rules* rules) {
  if (is_host_memory(device.device_type)) return;
  if (!is_accelerator(device.device_type) || device.device_id < 0 || device.device_id >= g_host.device_count) {
    rules->kinds |= kBuffer;
  }
}

// For a managed tensor of another library.
inline Rules rules_for_import(const DLManagedTensorVersioned& managed) {
  Rules rules;
  const DLTensor& tensor = managed.dl_tensor;
  if (managed.version.major != 1 || !has_dtype(tensor.dtype)) rules.kinds |= kBuffer;
  if (tensor.dtype.bits < 8 && (managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    rules.kinds |= kBuffer;
  }
  add_layout_rules(tensor, &rules);
  add_memory_rules(tensor, &rules);
  add_device_rules(tensor.device, &rules);
  return rules;
}

// For a managed tensor of the table's own over `object`, which the consumer may have changed.
inline Rules rules_for_block(const DLManagedTensorVersioned& managed, const Object& object, DLDevice device) {
  Rules rules = rules_for_import(managed);
  const DLTensor& tensor = managed.dl_tensor;
  const bool both_host = is_host_memory(device.device_type) && is_host_memory(tensor.device.device_type);
  const bool same = device.device_type == tensor.device.device_type && device.device_id == tensor.device.device_id;
  if (!both_host && !same) rules.kinds |= kValue;
  if (rules.kinds == 0 && rules.bytes != 0) {
    const Wide first = Wide{reinterpret_cast<uintptr_t>(tensor.data)} + Wide{tensor.byte_offset};
    const Wide end = Wide{object.memory} + Wide{object.bytes};
    if (first < Wide{object.memory} || first + rules.bytes > end) rules.kinds |= kValue;
  }
  return rules;
}

inline Rules rules_for_allocation(const DLTensor& prototype) {
  Rules rules;
  if (!has_dtype(prototype.dtype)) rules.kinds |= kBuffer;
  add_layout_rules(prototype, &rules);
  add_device_rules(prototype.device, &rules);
  const int32_t device = prototype.device.device_type;
  if (device != kDLCPU && device != g_host.accelerator) rules.kinds |= kBuffer;
  return rules;
}

// The strides that a layout has where it names none.
inline std::vector<int64_t> strides_of(const DLTensor& tensor) {
  std::vector<int64_t> strides(tensor.ndim);
  int64_t stride = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    strides[i] = tensor.strides != nullptr ? tensor.strides[i] : stride;
    if (tensor.shape[i] > 1) stride *= tensor.shape[i];
  }
  return strides;
}

#endif  // DLX_TESTS_FUZZ_RULES_H_

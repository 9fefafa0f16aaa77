// Memory from torch's own allocator, as a managed tensor: on the prototype's device, of its dtype, shape and, where given,
// strides; not initialised. Dispatch modes do not reach it, the current device stays, no GIL is needed.
//
// MemoryError for memory only, ValueError for shapes, BufferError for dtype and device, RuntimeError for what the device says.
// SetError may be NULL.
#include "devices.h"
#include "dtypes.h"
#include "functions.h"
#include "layout.h"
#include "likely.h"
#include "managed_block.h"
#include "torch_tensor.h"

#include <cstring>

namespace dlx {

namespace {

bool allocate(const DLTensor& prototype, DLManagedTensorVersioned** out, Error* error) {
  Geometry geometry = {};
  if (!check_dtype(prototype.dtype, "allocate a tensor", "ask for another dtype", &geometry.scalar_type, error))
    return false;
  geometry.layout = {prototype.ndim, prototype.shape, prototype.strides};
  int64_t elements, bytes;
  if (!check_layout(geometry.layout, dtype_bytes(prototype.dtype), kPrototype, &elements, &bytes, error)) return false;
  if (!device_from_dl(prototype.device, &geometry.torch_device, &geometry.device_index, error)) return false;
  if (!is_name_of(geometry.torch_device, prototype.device.device_type)) {
    return error->set(ErrorKind::kBufferError, "torch's allocator has no %s memory: allocate on kDLCPU%s%s",
                      dl_device_name(prototype.device.device_type), kBackend.dl_device == kDLCPU ? "" : " or ",
                      kBackend.dl_device == kDLCPU ? "" : dl_device_name(kBackend.dl_device));
  }
  ManagedBlock* block = make_block(allocate_storage(geometry, bytes), prototype.ndim);
  if (block == nullptr) {
    return error->set(ErrorKind::kMemoryError, "there is no memory for a managed tensor of %d dimensions",
                      prototype.ndim);
  }
  DLTensor& tensor = block->managed.dl_tensor;
  tensor.data = bytes == 0 ? nullptr : block->storage.data();
  tensor.device = {prototype.device.device_type, geometry.device_index};
  tensor.dtype = prototype.dtype;
  const size_t dims = static_cast<size_t>(prototype.ndim) * sizeof(int64_t);
  if (dims != 0) std::memcpy(tensor.shape, prototype.shape, dims);
  if (prototype.strides == nullptr) {
    fill_contiguous_strides(tensor.ndim, tensor.shape, tensor.strides);
  } else if (dims != 0) {
    std::memcpy(tensor.strides, prototype.strides, dims);
  }
  *out = &block->managed;
  return true;
}

}  // namespace

int managed_tensor_allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                             void (*SetError)(void* error_ctx, const char* kind, const char* message)) noexcept {
  Error error;
  try {
    if (DLX_LIKELY(allocate(*prototype, out, &error))) return 0;
  } catch (...) {
    // The host's allocator fails for lack of memory only. An accelerator's may fail for other reasons too, and throws a class of its own
    // where memory is short.
    error.set_from_exception(is_host_memory(prototype->device.device_type) ? ErrorKind::kMemoryError
                                                                           : ErrorKind::kRuntimeError);
  }
  if (SetError != nullptr) SetError(error_ctx, kind_name(error.kind), error.text);
  return -1;
}

}  // namespace dlx

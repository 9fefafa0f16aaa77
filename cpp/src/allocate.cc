// Memory from torch's own allocator, as a managed tensor: on the prototype's device, of its dtype, shape and, where given,
// strides; not initialised. Dispatch modes do not reach it, the current device stays, no GIL is needed.
//
// MemoryError for memory only, ValueError for shapes, BufferError for dtype and device, RuntimeError for what the device says.
// SetError may be NULL.
#include "devices.h"
#include "dtypes.h"
#include "functions.h"
#include "layout.h"
#include "owned.h"
#include "torch_tensor.h"

#include <cstring>

namespace dlx {

static bool allocate(const DLTensor& prototype, DLManagedTensorVersioned** out, Error* error) {
  const int scalar_type = dtype_from_dl(prototype.dtype);
  if (scalar_type == kNoScalarType) {
    return error->set(ErrorKind::kBufferError, "this torch has no dtype for DLPack code %u, bits %u, lanes %u",
                      prototype.dtype.code, prototype.dtype.bits, prototype.dtype.lanes);
  }
  const int64_t element_bytes = dtype_bytes(prototype.dtype);
  const Layout layout = {prototype.ndim, prototype.shape, prototype.strides};
  int64_t elements, bytes;
  if (!check_layout(layout, element_bytes, &elements, &bytes, error)) return false;
  int32_t torch_device, index;
  if (!device_from_dl(prototype.device, &torch_device, &index, error)) return false;
  if (prototype.device.device_type != device_to_dl(torch_device)) {
    return error->set(ErrorKind::kBufferError,
                      "torch's allocator cannot be asked for %s memory: allocate on kDLCPU or %s",
                      dl_device_name(prototype.device.device_type), dl_device_name(kBackend.dl_device));
  }
  const Geometry geometry = {torch_device, index, scalar_type, prototype.ndim, prototype.shape, prototype.strides, 0};
  Owned* owned = make_owned(allocate_memory(geometry, bytes), prototype.ndim);
  if (owned == nullptr) return error->set(ErrorKind::kMemoryError, "no memory for %d dimensions", prototype.ndim);
  DLTensor& tensor = owned->managed.dl_tensor;
  tensor.data = bytes == 0 ? nullptr : data_of(owned->memory);
  tensor.device = {prototype.device.device_type, index};
  tensor.dtype = prototype.dtype;
  const size_t dims = static_cast<size_t>(prototype.ndim) * sizeof(int64_t);
  if (dims != 0) std::memcpy(tensor.shape, prototype.shape, dims);
  if (prototype.strides == nullptr) {
    fill_contiguous_strides(tensor.ndim, tensor.shape, tensor.strides);
  } else if (dims != 0) {
    std::memcpy(tensor.strides, prototype.strides, dims);
  }
  *out = &owned->managed;
  return true;
}

int managed_tensor_allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                             void (*SetError)(void* error_ctx, const char* kind, const char* message)) noexcept {
  Error error;
  try {
    if (C10_LIKELY(allocate(*prototype, out, &error))) return 0;
  } catch (...) {
    // The host's allocator has nothing else to say than that there is no memory; an accelerator's names it by its class.
    error.set_from_exception(is_host_memory(prototype->device.device_type) ? ErrorKind::kMemoryError
                                                                           : ErrorKind::kRuntimeError);
  }
  if (SetError != nullptr) SetError(error_ctx, kind_name(error.kind), error.text);
  return -1;
}

}  // namespace dlx

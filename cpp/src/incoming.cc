#include "incoming.h"

#include "dtypes.h"
#include "layout.h"
#include "overflow.h"
#include "settings.h"

namespace dlx {
namespace {

Switch g_refuse_read_only("DLX_TORCH_REFUSE_READ_ONLY", false);

}  // namespace

bool check_incoming(const DLManagedTensorVersioned* managed, Geometry* geometry, char** data, int64_t* bytes,
                    Error* error) {
  if (managed == nullptr) {
    return error->set(ErrorKind::kValueError, "cannot make a torch.Tensor of NULL: pass a DLManagedTensorVersioned");
  }
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    return error->set(
        ErrorKind::kBufferError,
        "the managed tensor is of DLPack version %u.%u, and this library reads version %d: ask its producer for "
        "that one",
        managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION);
  }
  const DLTensor& tensor = managed->dl_tensor;
  if (!check_dtype(tensor.dtype, "make a torch.Tensor", "convert it before the export", &geometry->scalar_type, error))
    return false;
  if (tensor.dtype.bits < 8 && (managed->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    return error->set(
        ErrorKind::kBufferError,
        "the managed tensor has elements of %u bits padded to a byte each, and torch packs them: its producer has "
        "to pack them",
        tensor.dtype.bits);
  }
  if ((managed->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0 && g_refuse_read_only.is_on()) {
    return error->set(ErrorKind::kBufferError,
                      "the managed tensor is read-only, and every torch.Tensor can be written: copy it first, or unset "
                      "DLX_TORCH_REFUSE_READ_ONLY");
  }
  int64_t elements;
  geometry->layout = {tensor.ndim, tensor.shape, tensor.strides};
  if (!check_layout(geometry->layout, dtype_bytes(tensor.dtype), kManagedTensor, &elements, bytes, error)) return false;
  if (tensor.data == nullptr && elements != 0) {
    return error->set(ErrorKind::kValueError, "%s has data = NULL and %lld elements: %s", kManagedTensor.name,
                      static_cast<long long>(elements), kManagedTensor.remedy);
  }
  uintptr_t first, end;
  if (add_overflows(reinterpret_cast<uintptr_t>(tensor.data), static_cast<uintptr_t>(tensor.byte_offset), &first) ||
      add_overflows(first, static_cast<uintptr_t>(*bytes), &end)) {
    return error->set(ErrorKind::kValueError,
                      "%s has data, byte_offset and shape that reach past the end of the address space: %s",
                      kManagedTensor.name, kManagedTensor.remedy);
  }
  *data = reinterpret_cast<char*>(first);
  geometry->storage_offset = 0;
  return true;
}

}  // namespace dlx

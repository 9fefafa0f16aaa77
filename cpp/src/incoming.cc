#include "incoming.h"

#include "dtypes.h"
#include "layout.h"
#include "overflow.h"

namespace dlx {

bool check_incoming(const DLManagedTensorVersioned* managed, Geometry* geometry, char** data, int64_t* bytes,
                    Error* error) {
  if (managed == nullptr) return error->set(ErrorKind::kValueError, "the managed tensor is NULL");
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    return error->set(ErrorKind::kBufferError,
                      "a managed tensor of DLPack version %u.%u, this library reads version %u", managed->version.major,
                      managed->version.minor, DLPACK_MAJOR_VERSION);
  }
  const DLTensor& tensor = managed->dl_tensor;
  geometry->scalar_type = dtype_from_dl(tensor.dtype);
  if (geometry->scalar_type == kNoScalarType) {
    return error->set(ErrorKind::kBufferError, "this torch has no dtype for DLPack code %u, bits %u, lanes %u",
                      tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  }
  if (tensor.dtype.bits < 8 && (managed->flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0) {
    return error->set(ErrorKind::kBufferError, "elements of %u bits padded to a byte each; torch packs them",
                      tensor.dtype.bits);
  }
  int64_t elements;
  const Layout layout = {tensor.ndim, tensor.shape, tensor.strides};
  if (!check_layout(layout, dtype_bytes(tensor.dtype), &elements, bytes, error)) return false;
  if (tensor.data == nullptr && elements != 0) {
    return error->set(ErrorKind::kValueError, "data is NULL where the shape has %lld elements",
                      static_cast<long long>(elements));
  }
  uintptr_t first, end;
  if (add_overflows(reinterpret_cast<uintptr_t>(tensor.data), static_cast<uintptr_t>(tensor.byte_offset), &first) ||
      add_overflows(first, static_cast<uintptr_t>(*bytes), &end)) {
    return error->set(ErrorKind::kValueError, "data, byte_offset and shape reach past the end of the address space");
  }
  *data = reinterpret_cast<char*>(first);
  geometry->ndim = tensor.ndim;
  geometry->shape = tensor.shape;
  geometry->strides = tensor.strides;
  geometry->storage_offset = 0;
  return true;
}

}  // namespace dlx

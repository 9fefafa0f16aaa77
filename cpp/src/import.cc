// To a tensor: a managed tensor becomes a torch.Tensor that owns it.
//
// BufferError: a DLPack major version other than 1, a dtype (lanes included) or device that this torch cannot hold.
// ValueError: a negative ndim, size or stride, a size that overflows, NULL data with elements. The deleter is handed over last,
// so after any failure the caller still owns the managed tensor.
#include "devices.h"
#include "dtypes.h"
#include "functions.h"
#include "layout.h"
#include "owned.h"
#include "torch_tensor.h"

namespace dlx {

static bool check(const DLManagedTensorVersioned* managed, Geometry* geometry, char** data, int64_t* bytes,
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
    return error->set(ErrorKind::kBufferError, "torch %d.%d has no dtype for DLPack code %u, bits %u, lanes %u",
                      DLX_TORCH_MAJOR, DLX_TORCH_MINOR, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes);
  }
  int64_t elements;
  const Layout layout = {tensor.ndim, tensor.shape, tensor.strides};
  if (!check_layout(layout, dtype_bytes(tensor.dtype), &elements, bytes, error)) return false;
  if (tensor.data == nullptr && elements != 0) {
    return error->set(ErrorKind::kValueError, "data is NULL where the shape has %lld elements",
                      static_cast<long long>(elements));
  }
  uintptr_t first, end;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(tensor.data), tensor.byte_offset, &first) ||
      __builtin_add_overflow(first, static_cast<uintptr_t>(*bytes), &end)) {
    return error->set(ErrorKind::kValueError, "data, byte_offset and shape reach past the end of the address space");
  }
  *data = reinterpret_cast<char*>(first);
  geometry->ndim = tensor.ndim;
  geometry->shape = tensor.shape;
  geometry->strides = tensor.strides;
  geometry->storage_offset = 0;
  return true;
}

// A tensor of ours that comes home goes back on its own storage, so that allocator and aliasing stay torch's. Not if the
// consumer changed it to something that does not lie on that storage.
static bool comes_home(const Owned* owned, Geometry* geometry, const char* data, int64_t bytes) {
  const DLTensor& tensor = owned->managed.dl_tensor;
  const c10::Device device = owned->memory.device();
  const int32_t torch_device = static_cast<int32_t>(device.type());
  const int32_t index = device.index() < 0 ? 0 : device.index();
  if (device_to_dl(torch_device) != tensor.device.device_type || index != tensor.device.device_id) return false;
  geometry->torch_device = torch_device;
  geometry->device_index = index;
  if (bytes == 0) return true;
  const uintptr_t base = reinterpret_cast<uintptr_t>(data_of(owned->memory));
  const uintptr_t first = reinterpret_cast<uintptr_t>(data);
  const int64_t element_bytes = dtype_bytes(tensor.dtype);
  if (first < base || first - base + bytes > static_cast<uintptr_t>(bytes_of(owned->memory))) return false;
  if ((first - base) % element_bytes != 0) return false;
  geometry->storage_offset = static_cast<int64_t>(first - base) / element_bytes;
  return true;
}

static void call_deleter(void* context) {
  auto* managed = static_cast<DLManagedTensorVersioned*>(context);
  managed->deleter(managed);
}

int managed_tensor_to_py_object_no_sync(DLManagedTensorVersioned* managed, void** out_py_object) noexcept {
  Error error;
  try {
    Geometry geometry;
    char* data = nullptr;
    int64_t bytes = 0;
    if (C10_LIKELY(check(managed, &geometry, &data, &bytes, &error))) {
      Owned* owned = owned_of(managed);
      if (owned != nullptr && comes_home(owned, &geometry, data, bytes)) {
        PyObject* tensor = make_tensor(&owned->memory, geometry);
        if (tensor == nullptr) return -1;
        free_owned(owned);
        *out_py_object = tensor;
        return 0;
      }
      const DLDevice device = managed->dl_tensor.device;
      if (device_from_dl(device, &geometry.torch_device, &geometry.device_index, &error)) {
        const Memory memory = borrow_memory(data, geometry.torch_device, geometry.device_index, bytes);
        Memory taken = memory;
        PyObject* tensor = make_tensor(&taken, geometry);
        if (tensor == nullptr) return -1;
        if (managed->deleter != nullptr) hand_over(memory, managed, &call_deleter);
        *out_py_object = tensor;
        return 0;
      }
    }
  } catch (...) {
    error.set_from_exception(ErrorKind::kRuntimeError);
  }
  return raise(error);
}

}  // namespace dlx

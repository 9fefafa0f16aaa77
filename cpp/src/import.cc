// To a tensor: a managed tensor becomes a torch.Tensor that owns it.
//
// BufferError: a DLPack major version other than 1, a dtype (lanes included) or device that this torch cannot hold.
// ValueError: a negative ndim, size or stride, a size that overflows, NULL data with elements. The deleter is handed over last,
// so after any failure the caller still owns the managed tensor.
#include "devices.h"
#include "dtypes.h"
#include "functions.h"
#include "incoming.h"
#include "owned.h"
#include "torch_tensor.h"

namespace dlx {

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
    if (C10_LIKELY(check_incoming(managed, &geometry, &data, &bytes, &error))) {
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
        PyObject* tensor =
            borrow_tensor(data, bytes, geometry, managed, managed->deleter == nullptr ? nullptr : &call_deleter);
        if (tensor == nullptr) return -1;
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

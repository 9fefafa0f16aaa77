// To a tensor: a managed tensor becomes a torch.Tensor that owns it.
//
// BufferError: a DLPack major version other than 1, a dtype (lanes included) or device that this torch cannot hold.
// ValueError: a negative ndim, size or stride, a size that overflows, NULL data with elements. The deleter is handed over last,
// so after any failure the caller still owns the managed tensor.
#include "devices.h"
#include "dtypes.h"
#include "from_blob.h"
#include "functions.h"
#include "incoming.h"
#include "likely.h"
#include "managed_block.h"
#include "torch_tensor.h"

namespace dlx {

namespace {

// Whether the managed tensor still lies on the storage of our block, and where. If so, the new tensor gets that very storage, so that
// allocator and aliasing stay torch's. A consumer may have changed the managed tensor to something that does not lie there.
bool can_reuse_storage(const ManagedBlock* block, Geometry* geometry, const char* data, int64_t bytes) {
  const DLTensor& tensor = block->managed.dl_tensor;
  const Storage& storage = block->storage;
  const int32_t torch_device = storage.device_type();
  const int32_t index = storage.device_index() < 0 ? 0 : storage.device_index();
  if (device_to_dl(torch_device) != tensor.device.device_type || index != tensor.device.device_id) return false;
  geometry->torch_device = torch_device;
  geometry->device_index = index;
  if (bytes == 0) return true;
  const auto base = reinterpret_cast<uintptr_t>(storage.data());
  const auto first = reinterpret_cast<uintptr_t>(data);
  const int64_t element_bytes = dtype_bytes(tensor.dtype);
  if (first < base || first - base + bytes > static_cast<uintptr_t>(storage.bytes())) return false;
  if ((first - base) % element_bytes != 0) return false;
  geometry->storage_offset = static_cast<int64_t>(first - base) / element_bytes;
  return true;
}

}  // namespace

int managed_tensor_to_py_object_no_sync(DLManagedTensorVersioned* managed, void** out_py_object) noexcept {
  Error error;
  try {
    Geometry geometry;
    char* data = nullptr;
    int64_t bytes = 0;
    if (DLX_LIKELY(check_incoming(managed, &geometry, &data, &bytes, &error))) {
      ManagedBlock* block = block_of(managed);
      if (block != nullptr && can_reuse_storage(block, &geometry, data, bytes)) {
        PyObject* tensor = tensor_from_storage(&block->storage, geometry);
        if (tensor == nullptr) return -1;
        free_block(block);
        *out_py_object = tensor;
        return 0;
      }
      const DLDevice device = managed->dl_tensor.device;
      if (device_from_dl(device, &geometry.torch_device, &geometry.device_index, &error)) {
        PyObject* tensor =
            tensor_from_blob(data, bytes, geometry, managed, managed->deleter == nullptr ? nullptr : &delete_managed);
        if (tensor == nullptr) return -1;
        *out_py_object = tensor;
        return 0;
      }
    }
  } catch (...) {
    error.set_from_exception(ErrorKind::kRuntimeError);
  }
  return set_python_error(error);
}

}  // namespace dlx

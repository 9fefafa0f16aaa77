// To a tensor: a managed tensor becomes a torch.Tensor that owns it.
//
// BufferError: a DLPack major version other than 1, a dtype (lanes included) or device that this torch cannot hold.
// ValueError: a negative ndim, size or stride, a size that overflows, NULL data with elements, and a managed tensor of ours that was
// changed to name memory other than its own. The deleter is handed over last,
// so after any failure the caller still owns the managed tensor.
#include "deferred.h"
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

// What the managed tensor of a block of ours has become in the consumer's hands.
enum class Returned {
  kOnStorage,  // it lies on the block's storage: the new tensor gets that storage, so that allocator and aliasing stay torch's
  kWithin,     // it lies within the storage's memory, but not at a whole element: the new tensor borrows the memory
  kElsewhere,  // the memory that it names is not the block's
};

// Where the managed tensor lies on the storage of our block, which goes into *geometry: a consumer may have changed everything.
Returned find_on_storage(const ManagedBlock* block, Geometry* geometry, const char* data, int64_t bytes) {
  const DLTensor& tensor = block->managed.dl_tensor;
  const Storage& storage = block->storage;
  const int32_t torch_device = storage.device_type();
  const int32_t index = storage.device_index() < 0 ? 0 : storage.device_index();
  const bool same_device = is_name_of(torch_device, tensor.device.device_type) && index == tensor.device.device_id;
  const bool both_host = torch_device == kTorchCPU && is_host_memory(tensor.device.device_type);
  if (!same_device && !both_host) return Returned::kElsewhere;
  geometry->torch_device = torch_device;
  geometry->device_index = index;
  if (bytes == 0) return Returned::kOnStorage;
  const auto base = reinterpret_cast<uintptr_t>(storage.data());
  const auto first = reinterpret_cast<uintptr_t>(data);
  const auto size = static_cast<uintptr_t>(storage.bytes());
  // Written so that nothing overflows.
  if (first < base || first - base > size || static_cast<uintptr_t>(bytes) > size - (first - base)) {
    return Returned::kElsewhere;
  }
  const int64_t element_bytes = dtype_bytes(tensor.dtype);
  if ((first - base) % element_bytes != 0) return Returned::kWithin;
  geometry->storage_offset = static_cast<int64_t>(first - base) / element_bytes;
  return Returned::kOnStorage;
}

bool refuse_elsewhere(const ManagedBlock* block, int64_t bytes, Error* error) {
  const DLTensor& tensor = block->managed.dl_tensor;
  return error->set(ErrorKind::kValueError,
                    "the managed tensor names %lld bytes on %s:%d that do not lie in the %lld bytes of torch's storage "
                    "that it came from: "
                    "the library that changed it has to correct it",
                    static_cast<long long>(bytes), dl_device_name(tensor.device.device_type), tensor.device.device_id,
                    static_cast<long long>(block->storage.bytes()));
}

}  // namespace

int managed_tensor_to_py_object_no_sync(DLManagedTensorVersioned* managed, void** out_py_object) noexcept {
  free_deferred();
  Error error;
  try {
    Geometry geometry;
    char* data = nullptr;
    int64_t bytes = 0;
    if (DLX_LIKELY(check_incoming(managed, &geometry, &data, &bytes, &error))) {
      ManagedBlock* block = block_of(managed);
      if (block != nullptr) {
        const Returned returned = find_on_storage(block, &geometry, data, bytes);
        if (DLX_UNLIKELY(returned == Returned::kElsewhere)) {
          refuse_elsewhere(block, bytes, &error);
          return set_python_error(error);
        }
        if (DLX_LIKELY(returned == Returned::kOnStorage)) {
          PyObject* tensor = tensor_from_storage(&block->storage, geometry);
          if (tensor == nullptr) return -1;
          free_block(block);
          *out_py_object = tensor;
          return 0;
        }
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

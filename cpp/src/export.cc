// From a tensor: as a DLTensor that borrows everything, and as a managed tensor that owns its memory.
//
// Refused before anything is owned. TypeError: not a torch.Tensor by its real type. BufferError: a tensor whose memory is not
// what its sizes and strides say, or that has none, a dtype or device without a DLPack name.
//
// The hot path: a type comparison, one mask over the dispatch keys, two table look-ups and nine stores; no allocation, no
// atomic, no call into torch.
#include "deferred.h"
#include "devices.h"
#include "dtypes.h"
#include "functions.h"
#include "likely.h"
#include "managed_block.h"
#include "overflow.h"
#include "torch_tensor.h"

namespace dlx {

namespace {

bool refuse_not_a_tensor(const void* object, Error* error) {
  if (object == nullptr) return error->set(ErrorKind::kTypeError, "cannot export NULL: pass a torch.Tensor");
  if (is_torch_tensor(object)) {
    return error->set(
        ErrorKind::kBufferError,
        "cannot export an object of class torch.Tensor that holds no tensor: make it with torch's functions");
  }
  PyObject *pending_type, *pending, *pending_traceback;
  PyErr_Fetch(&pending_type, &pending, &pending_traceback);
  PyObject* name = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type_of(object)), "__name__");
  PyObject* bytes = name == nullptr ? nullptr : PyUnicode_AsUTF8String(name);
  const char* text = bytes == nullptr ? nullptr : PyBytes_AsString(bytes);
  error->set(ErrorKind::kTypeError, "cannot export a %.100s: pass a torch.Tensor",
             text == nullptr ? "Python object" : text);
  Py_DecRef(name);
  Py_DecRef(bytes);
  PyErr_Restore(pending_type, pending, pending_traceback);
  return false;
}

// Why `describe` cannot describe the tensor; always false.
[[gnu::cold, gnu::noinline]] bool refuse_export(const void* object, TensorRef tensor, Error* error) {
  if (tensor == nullptr) return refuse_not_a_tensor(object, error);
  if (!is_plain(tensor)) return refuse_not_plain(tensor, error);
  const int scalar_type = scalar_type_of(tensor);
  if (dtype_to_dl(scalar_type).bits == 0) {
    return error->set(ErrorKind::kBufferError,
                      "cannot export a tensor of dtype %s: DLPack has no name for it, convert it first",
                      scalar_type_name(scalar_type));
  }
  const int32_t device = device_of(tensor).type;
  if (device_to_dl(device) == 0) {
    return error->set(ErrorKind::kBufferError,
                      "cannot export a tensor on device type %s: DLPack has no name for it, copy it first",
                      device_type_name(device));
  }
  return error->set(ErrorKind::kBufferError,
                    "cannot export a tensor of %lld elements whose memory is not allocated: resize its storage first",
                    static_cast<long long>(element_count_of(tensor)));
}

// The number of elements from the first to the last one of a tensor that has some; -1 where it is negative or does not fit in 63 bits.
[[gnu::noinline]] int64_t extent_of(TensorRef tensor) {
  const Layout layout = layout_of(tensor);
  int64_t last = 0;
  for (int32_t i = 0; i < layout.ndim; ++i) {
    int64_t distance;
    if (layout.strides[i] < 0 || multiply_overflows(layout.shape[i] - 1, layout.strides[i], &distance) ||
        add_overflows(last, distance, &last)) {
      return -1;
    }
  }
  return last == INT64_MAX ? -1 : last + 1;
}

// Whether every element lies in the storage. torch itself lets tensors reach past it: after a resize that failed, or a storage that was made
// smaller. `elements` is not 0.
[[gnu::always_inline]] inline bool ends_within_storage(TensorRef tensor, int64_t elements, int64_t offset,
                                                       int64_t element_bytes) {
  const int64_t extent = DLX_LIKELY(is_contiguous(tensor)) ? elements : extent_of(tensor);
  int64_t end, bytes;
  const bool overflows = add_overflows(offset, extent, &end) || multiply_overflows(end, element_bytes, &bytes);
  return !overflows && (offset | extent) >= 0 && bytes <= storage_bytes_of(tensor);
}

[[gnu::cold, gnu::noinline]] bool refuse_beyond_storage(TensorRef tensor, int64_t element_bytes, Error* error) {
  return error->set(ErrorKind::kBufferError,
                    "cannot export a tensor of %lld elements of %lld bytes that reach past the end of its storage of "
                    "%lld bytes: resize "
                    "the storage first",
                    static_cast<long long>(element_count_of(tensor)), static_cast<long long>(element_bytes),
                    static_cast<long long>(storage_bytes_of(tensor)));
}

// Describes the tensor with its own arrays of sizes and strides, which the consumer must not change: dlpack.h has no const there. Throws
// where torch refuses access to the memory.
[[gnu::always_inline]] inline bool describe(const void* object, DLTensor* out, Error* error) {
  const TensorRef tensor = tensor_of(object);
  if (DLX_UNLIKELY(tensor == nullptr || !is_plain(tensor))) return refuse_export(object, tensor, error);
  const int scalar_type = scalar_type_of(tensor);
  const DLDataType& dtype = dtype_to_dl(scalar_type);
  const DeviceOf device = device_of(tensor);
  const int32_t dl_device = device_to_dl(device.type);
  if (DLX_UNLIKELY(dtype.bits == 0 || dl_device == 0)) return refuse_export(object, tensor, error);
  const int64_t element_bytes = kDTypes.bytes[scalar_type];
  if (DLX_UNLIKELY(kBackend.has_plain_format != nullptr) && device.type == kBackend.torch_device &&
      !has_plain_format(tensor)) {
    return error->set(
        ErrorKind::kBufferError,
        "cannot export a tensor in a private layout of %s: call torch_npu.npu_format_cast(tensor, 2) first",
        kBackend.name.text);
  }
  char* data = storage_start_of(tensor);
  const int64_t elements = element_count_of(tensor);
  if (DLX_UNLIKELY(data == nullptr && elements != 0)) return refuse_export(object, tensor, error);
  const int64_t offset = storage_offset_of(tensor);
  // Storages of other devices may state no size.
  if ((dl_device == kDLCPU || device.type == kBackend.torch_device) && DLX_LIKELY(elements != 0) &&
      DLX_UNLIKELY(!ends_within_storage(tensor, elements, offset, element_bytes))) {
    return refuse_beyond_storage(tensor, element_bytes, error);
  }
  // Written only now: for all the compiler knows, a store through `out` changes the tensor, and it would read that again.
  const Layout layout = layout_of(tensor);
  out->ndim = layout.ndim;
  out->shape = const_cast<int64_t*>(layout.shape);
  out->strides = const_cast<int64_t*>(layout.strides);
  out->byte_offset = 0;
  if (DLX_UNLIKELY(dl_device == kDLMetal)) {
    // An MPS tensor's memory is named by its buffer's handle, which no offset can be added to.
    out->byte_offset = static_cast<uint64_t>(offset * element_bytes);
  } else {
    data = DLX_LIKELY(elements != 0) ? data + offset * element_bytes : nullptr;
  }
  out->data = data;
  out->device = {static_cast<DLDeviceType>(dl_device), device.index < 0 ? 0 : device.index};
  out->dtype = dtype;
  return true;
}

}  // namespace

int dltensor_from_py_object_no_sync(void* py_object, DLTensor* out) noexcept {
  Error error;
  try {
    if (DLX_LIKELY(describe(py_object, out, &error))) return 0;
  } catch (...) {
    error.set_from_exception(ErrorKind::kBufferError);
  }
  return set_python_error(error);
}

int managed_tensor_from_py_object_no_sync(void* py_object, DLManagedTensorVersioned** out) noexcept {
  free_deferred();
  // By the other function, so that its code is in the library once.
  DLTensor view;
  if (DLX_UNLIKELY(dltensor_from_py_object_no_sync(py_object, &view) != 0)) return -1;
  ManagedBlock* block = make_block(storage_of(tensor_of(py_object)), view.ndim);
  if (DLX_UNLIKELY(block == nullptr)) {
    Error error;
    error.set(ErrorKind::kMemoryError, "there is no memory for a managed tensor of %d dimensions", view.ndim);
    return set_python_error(error);
  }
  DLTensor& target = block->managed.dl_tensor;
  target.data = view.data;
  target.device = view.device;
  target.dtype = view.dtype;
  target.byte_offset = view.byte_offset;
  for (int32_t i = 0; i < view.ndim; ++i) {
    target.shape[i] = view.shape[i];
    target.strides[i] = view.strides[i];
  }
  *out = &block->managed;
  return 0;
}

}  // namespace dlx

// From a tensor: as a DLTensor that borrows everything, and as a managed tensor that owns its memory.
//
// Refused before anything is owned. TypeError: not a torch.Tensor by its real type. BufferError: a tensor whose memory is not
// what its sizes and strides say, or that has none, a dtype or device without a DLPack name.
//
// The hot path: a type comparison, one mask over the dispatch keys, two table look-ups and nine stores; no allocation, no
// atomic, no call into torch.
#include "devices.h"
#include "dtypes.h"
#include "functions.h"
#include "owned.h"
#include "torch_tensor.h"

namespace dlx {

static bool refuse_not_a_tensor(const void* object, Error* error) {
  if (object == nullptr) return error->set(ErrorKind::kTypeError, "expected a torch.Tensor, got NULL");
  PyTypeObject* type = type_of(object);
  if (PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(THPVariableClass))) {
    return error->set(ErrorKind::kBufferError, "cannot export a torch.Tensor that holds no tensor");
  }
  PyObject *pending_type, *pending, *pending_traceback;
  PyErr_Fetch(&pending_type, &pending, &pending_traceback);
  PyObject* name = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__name__");
  PyObject* bytes = name == nullptr ? nullptr : PyUnicode_AsUTF8String(name);
  const char* text = bytes == nullptr ? nullptr : PyBytes_AsString(bytes);
  error->set(ErrorKind::kTypeError, "expected a torch.Tensor, got %.100s", text == nullptr ? "another type" : text);
  Py_DecRef(name);
  Py_DecRef(bytes);
  PyErr_Restore(pending_type, pending, pending_traceback);
  return false;
}

[[gnu::cold, gnu::noinline]] static bool refuse(const void* object, Tensor* tensor, Error* error) {
  if (tensor == nullptr) return refuse_not_a_tensor(object, error);
  if (!is_plain(tensor)) return refuse_not_plain(tensor, error);
  const int scalar_type = scalar_type_of(tensor);
  if (dtype_to_dl(scalar_type).bits == 0) {
    return error->set(ErrorKind::kBufferError, "cannot export a tensor of dtype %s: DLPack has no name for it",
                      scalar_type_name(scalar_type));
  }
  const int32_t device = device_type_of(tensor);
  if (device_to_dl(device) == 0) {
    return error->set(ErrorKind::kBufferError, "cannot export a tensor on device type %s: DLPack has no name for it",
                      device_type_name(device));
  }
  return error->set(ErrorKind::kBufferError, "cannot export a tensor of %lld elements whose memory is not allocated",
                    static_cast<long long>(tensor->numel()));
}

// Fills everything but shape and strides, which *tensor_out holds. Throws where torch refuses access to the memory.
[[gnu::always_inline]] static inline bool describe(const void* object, DLTensor* out, Tensor** tensor_out,
                                                   Error* error) {
  Tensor* tensor = tensor_of(object);
  *tensor_out = tensor;
  if (C10_UNLIKELY(tensor == nullptr || !is_plain(tensor))) return refuse(object, tensor, error);
  const DLDataType dtype = dtype_to_dl(scalar_type_of(tensor));
  const int32_t device = device_type_of(tensor);
  const int32_t dl_device = device_to_dl(device);
  if (C10_UNLIKELY(dtype.bits == 0 || dl_device == 0)) return refuse(object, tensor, error);
  const int32_t index = device_index_of(tensor);
  if (C10_UNLIKELY(kBackend.has_plain_layout != nullptr) && device == kBackend.torch_device &&
      !has_plain_layout(tensor)) {
    return error->set(ErrorKind::kBufferError,
                      "cannot export a tensor in a private layout of the %s: cast it to ND first", kBackend.name);
  }
  char* data = base_of(tensor);
  const int64_t elements = tensor->numel();
  if (C10_UNLIKELY(data == nullptr && elements != 0)) return refuse(object, tensor, error);
  const int64_t offset = tensor->storage_offset() * dtype_bytes(dtype);
  out->byte_offset = 0;
  if (C10_UNLIKELY(dl_device == kDLMetal)) {
    // An MPS tensor's memory is named by its buffer's handle, which no offset can be added to.
    out->byte_offset = static_cast<uint64_t>(offset);
  } else {
    data = C10_LIKELY(elements != 0) ? data + offset : nullptr;
  }
  out->data = data;
  out->device = {static_cast<DLDeviceType>(dl_device), index < 0 ? 0 : index};
  out->dtype = dtype;
  return true;
}

int dltensor_from_py_object_no_sync(void* py_object, DLTensor* out) noexcept {
  Error error;
  try {
    Tensor* tensor;
    if (C10_LIKELY(describe(py_object, out, &tensor, &error))) {
      const c10::IntArrayRef shape = tensor->sizes();
      out->ndim = static_cast<int32_t>(shape.size());
      // Borrowed from the tensor, and only lent: dlpack.h has no const here.
      out->shape = const_cast<int64_t*>(shape.data());
      out->strides = const_cast<int64_t*>(tensor->strides().data());
      return 0;
    }
  } catch (...) {
    error.set_from_exception(ErrorKind::kBufferError);
  }
  return raise(error);
}

int managed_tensor_from_py_object_no_sync(void* py_object, DLManagedTensorVersioned** out) noexcept {
  Error error;
  try {
    Tensor* tensor;
    DLTensor view = {};
    if (C10_LIKELY(describe(py_object, &view, &tensor, &error))) {
      const c10::IntArrayRef shape = tensor->sizes();
      Owned* owned = make_owned(tensor->unsafe_storage(), static_cast<int32_t>(shape.size()));
      if (C10_LIKELY(owned != nullptr)) {
        DLTensor& target = owned->managed.dl_tensor;
        target.data = view.data;
        target.device = view.device;
        target.dtype = view.dtype;
        target.byte_offset = view.byte_offset;
        const int64_t* strides = tensor->strides().data();
        for (size_t i = 0; i < shape.size(); ++i) {
          target.shape[i] = shape[i];
          target.strides[i] = strides[i];
        }
        *out = &owned->managed;
        return 0;
      }
      error.set(ErrorKind::kMemoryError, "no memory for a managed tensor of %d dimensions",
                static_cast<int>(shape.size()));
    }
  } catch (...) {
    error.set_from_exception(ErrorKind::kBufferError);
  }
  return raise(error);
}

}  // namespace dlx

// The checks of Tensor, and the texts of their errors.
#ifndef DLX_TENSOR_INL_H_
#define DLX_TENSOR_INL_H_

#include <cstring>

#include "tensor.h"

namespace dlx DLX_HIDDEN {

// "(2, 3)", as Python writes a shape. A new str, or NULL.
inline PyObject* shape_text(const DLTensor& tensor) {
  PyObject* shape = PyTuple_New(tensor.ndim);
  for (int i = 0; shape != nullptr && i < tensor.ndim; ++i) {
    PyObject* size = PyLong_FromLongLong(tensor.shape[i]);
    if (size == nullptr || PyTuple_SetItem(shape, i, size) != 0) Py_CLEAR(shape);
  }
  PyObject* text = shape != nullptr ? PyObject_Str(shape) : nullptr;
  Py_XDECREF(shape);
  return text;
}

inline int64_t Tensor::numel() const {
  int64_t count = 1;
  for (int i = 0; i < ndim(); ++i) count *= size(i);
  return count;
}

inline int64_t Tensor::stride(int i) const {
  if (i < 0) i += ndim();
  if (tensor_.strides != nullptr) return tensor_.strides[i];
  int64_t stride = 1;
  for (int after = i + 1; after < ndim(); ++after) stride *= size(after);
  return stride;
}

DLX_COLD inline bool Tensor::wrong_layout(Layout layout) const {
  if (!aligned(alignment_of(dtype()))) return false;
  if (layout == Layout::contiguous)
    return fail(PyExc_ValueError, "is not contiguous; make it so first (in torch: .contiguous())");
  return fail(PyExc_ValueError, "its last dimension is not dense: its stride is %lld",
              static_cast<long long>(stride(-1)));
}

inline bool Tensor::aligned(unsigned bytes) const {
  void* first = data();
  if (DLX_UNLIKELY(reinterpret_cast<uintptr_t>(first) % bytes != 0)) {
    return fail(PyExc_ValueError, "its memory begins at %p; a multiple of %d is needed", first,
                static_cast<int>(bytes));
  }
  return true;
}

inline bool Tensor::on(DLDeviceType device_type) const {
  if (device().device_type == device_type) return true;
  char wanted[sizeof(DeviceName::text)];
  std::memcpy(wanted, DeviceName({device_type, 0}).text, sizeof(wanted));
  if (char* index = std::strchr(wanted, ':')) *index = '\0';
  return fail(PyExc_ValueError, "is on %s; %s is needed", DeviceName(device()).text, wanted);
}

DLX_COLD inline bool Tensor::unlike(const Tensor& other) const {
  if (!same(dtype(), other.dtype())) return wrong_dtype(other.dtype());
  PyObject *its = shape_text(tensor_), *others = shape_text(other.tensor_),
           *where = call_->where_in_call(other.position_, other.item_);
  if (its != nullptr && others != nullptr && where != nullptr) {
    fail(PyExc_ValueError, "its shape is %U; %U is needed, as %U has", its, others, where);
  }
  Py_XDECREF(its);
  Py_XDECREF(others);
  Py_XDECREF(where);
  return false;
}

inline bool Tensor::named_later(const char* name, int i) const {
  const int64_t size = tensor_.shape[i];
  Call::NamedSize* known = call_->named_;
  for (int left = call_->named_count_; left > 0; --left, ++known) {
    if (known->name == name || std::strcmp(known->name, name) == 0) return known->size == size;
  }
  if (call_->named_count_ == kMaxNamedSizes) return false;
  *known = {name, size, this};
  ++call_->named_count_;
  return true;
}

DLX_COLD inline bool Tensor::wrong_dtype(const DLDataType& wanted) const {
  return fail(PyExc_TypeError, "its dtype is %s; %s is needed", DTypeName(dtype()).text, DTypeName(wanted).text);
}

DLX_COLD inline bool Tensor::wrong_rank(int wanted) const {
  PyObject* shape = shape_text(tensor_);
  if (shape != nullptr) {
    fail(PyExc_ValueError, "its shape is %U; %d dimension%s needed", shape, wanted, wanted == 1 ? " is" : "s are");
  }
  Py_XDECREF(shape);
  return false;
}

DLX_COLD inline bool Tensor::wrong_size(const Dim& wanted, int i) const {
  const auto here = static_cast<long long>(size(i));
  if (wanted.name == nullptr) {
    return fail(PyExc_ValueError, "its size %d is %lld; %lld is needed", i, here, static_cast<long long>(wanted.size));
  }
  for (int at = 0; at < call_->named_count_; ++at) {
    const Call::NamedSize& known = call_->named_[at];
    if (std::strcmp(known.name, wanted.name) != 0) continue;
    PyObject* where = call_->where_in_call(known.from->position_, known.from->item_);
    if (where != nullptr) {
      fail(PyExc_ValueError, "its size %d, '%s', is %lld; %lld is needed, as in %U", i, wanted.name, here,
           static_cast<long long>(known.size), where);
    }
    Py_XDECREF(where);
    return false;
  }
  return fail(PyExc_SystemError, "a call has more than %d named sizes", kMaxNamedSizes);
}

// The view of an argument that is not borrowed by its table, empty; NULL with MemoryError.
inline dlx_view* Tensor::more() {
  if (more_ == nullptr) more_ = static_cast<More*>(PyMem_Calloc(1, sizeof(More)));
  if (more_ == nullptr) PyErr_NoMemory();
  return more_ != nullptr ? &more_->view : nullptr;
}

DLX_COLD inline void Tensor::drop() {
  dlx_release(&more_->view);
  PyMem_Free(more_->kept);
  PyMem_Free(more_);
  more_ = nullptr;
}

DLX_COLD inline bool Tensor::blame() const { return call_->blame(position_, item_); }

DLX_COLD inline bool Tensor::fail(PyObject* kind, const char* format, ...) const {
  va_list values;
  va_start(values, format);
  call_->set_error(position_, item_, kind, format, values);
  va_end(values);
  return false;
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_TENSOR_INL_H_

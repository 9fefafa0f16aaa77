// How Call converts Python's arguments: tensors, lists of tensors, keywords, and what may be left out.
#ifndef DLX_ARGUMENTS_H_
#define DLX_ARGUMENTS_H_

#include <memory>
#include <new>

#include "scalars.h"

namespace dlx DLX_HIDDEN {

// An argument that may be left out or None; then its slot stays as it was.
template <class T>
struct Maybe {
  T* slot;
};
template <class T>
constexpr Maybe<T> maybe(T* slot) {
  return {slot};
}

// A list or tuple of tensors. Holds the objects until the call ends, whatever becomes of the list meanwhile.
class Tensors {
 public:
  explicit Tensors(Allow allow = Allow{}) : allow_(allow) {}
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    items_.reset();
    Py_XDECREF(objects_);
  }

  int size() const { return size_; }
  Tensor& operator[](int i) const { return items_[static_cast<size_t>(i)]; }
  Tensor* begin() const { return items_.get(); }
  Tensor* end() const { return items_.get() + size_; }

 private:
  friend class Call;

  std::unique_ptr<Tensor[]> items_;
  PyObject* objects_ = nullptr;
  int size_ = 0;
  Allow allow_;
};

template <class... Slots>
DLX_FAST bool Call::args(Slots... slots) {
  static_assert(sizeof...(Slots) <= kMaxArguments, "dlx::Call converts at most 32 arguments");
  constexpr int kSlots = sizeof...(Slots);
  if (DLX_UNLIKELY(keywords_ != nullptr || count_ != kSlots) && !arrange(kSlots)) return false;
  [[maybe_unused]] int position = 0;
  if (!(take(position++, slots) && ...)) return false;
  if (DLX_UNLIKELY(later_) && !(settle(slots) && ...)) return false;
  return !DLX_UNLIKELY(host_ != nullptr && lead_ != nullptr) || elsewhere(host_);
}

// Describes a tensor with the table of its type; one without a table waits until the stream is known.
DLX_FAST bool Call::borrow(PyObject* object, int position, int item, Tensor* out) {
  PyTypeObject* type = Py_TYPE(object);
  out->object_ = object;
  out->call_ = this;
  out->position_ = position;
  out->item_ = item;
  if (DLX_UNLIKELY(type != type_)) {
    if (!look_up(type, out)) return false;
    if (type_ == nullptr) return true;
  }
  out->api_ = api_;
  if (DLX_UNLIKELY(api_->dltensor_from_py_object_no_sync == nullptr)) return borrow_owned(out);
  if (DLX_UNLIKELY(api_->dltensor_from_py_object_no_sync(object, &out->tensor_) != 0)) {
    dlx_failed("dltensor_from_py_object_no_sync");
    return out->blame();
  }
  // Field by field: a table has just written the two, and a processor waits if they are then read as one.
  if (out->tensor_.device.device_type != kDLCPU || host_ == nullptr) return place(out);
  return true;
}

// Puts the arguments in the order of the signature; NULL for one that was not given.
DLX_COLD inline bool Call::arrange(int slots) {
  if (count_ > slots) {
    return fail(PyExc_TypeError, "takes at most %d argument%s; %zd were given", slots, slots == 1 ? "" : "s", count_);
  }
  for (int i = 0; i < slots; ++i) by_name_[i] = i < count_ ? given_[i] : nullptr;
  if (keywords_ != nullptr && !arrange_keywords(slots)) return false;
  given_ = by_name_;
  return true;
}

inline bool Call::arrange_keywords(int slots) {
  for (Py_ssize_t k = 0; k < PyTuple_Size(keywords_); ++k) {
    PyObject* keyword = PyTuple_GetItem(keywords_, k);  // borrowed
    int i = 0;
    while (i < slots && signature_->names[i] != nullptr &&
           PyUnicode_CompareWithASCIIString(keyword, signature_->names[i]) != 0) {
      ++i;
    }
    if (i == slots || signature_->names[i] == nullptr) return fail(PyExc_TypeError, "has no argument '%U'", keyword);
    if (by_name_[i] != nullptr) return fail_at(i, PyExc_TypeError, "was given twice");
    by_name_[i] = given_[count_ + k];
  }
  return true;
}

DLX_FAST bool Call::take(int position, Tensor* out) {
  PyObject* object = given_[position];
  if (DLX_UNLIKELY(object == nullptr)) return missing(position);
  return borrow(object, position, -1, out);
}

inline bool Call::take(int position, Tensors* out) {
  PyObject* object = given_[position];
  if (object == nullptr) return missing(position);
  if (!PyList_Check(object) && !PyTuple_Check(object))
    return fail_at(position, PyExc_TypeError, "a list or tuple of tensors is needed");
  out->items_.reset();
  Py_XDECREF(out->objects_);
  out->size_ = 0;
  out->objects_ = PySequence_Tuple(object);
  if (out->objects_ == nullptr) return false;
  const Py_ssize_t size = PyTuple_Size(out->objects_);
  out->items_.reset(new (std::nothrow) Tensor[static_cast<size_t>(size)]);
  if (out->items_ == nullptr) return PyErr_NoMemory() != nullptr;
  out->size_ = static_cast<int>(size);
  for (int i = 0; i < out->size_; ++i) {
    out->items_[static_cast<size_t>(i)].allow_ = out->allow_;
    if (!borrow(PyTuple_GetItem(out->objects_, i), position, i, &(*out)[i])) return false;
  }
  return true;
}

inline bool Call::settle(Tensors* tensors) {
  for (Tensor& tensor : *tensors) {
    if (!settle(&tensor)) return false;
  }
  return true;
}

template <class T>
bool Call::settle(Maybe<T> slot) {
  return settle(slot.slot);
}

template <class T>
bool Call::take(int position, Maybe<T> slot) {
  return given_[position] == nullptr || given_[position] == Py_None || take(position, slot.slot);
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_ARGUMENTS_H_

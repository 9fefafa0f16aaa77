// What a call hands back or keeps: new tensors of the arguments' framework, and memory that outlives the call.
#ifndef DLX_OUTPUT_H_
#define DLX_OUTPUT_H_

#include <utility>

#include "call_inl.h"

namespace dlx DLX_HIDDEN {

// A new tensor (Call::empty) until `release` hands it to Python; what is not handed over is freed. Used with the GIL.
class Output {
 public:
  Output() = default;
  Output(Output&& other) noexcept
      : api_(other.api_),
        managed_(std::exchange(other.managed_, nullptr)),
        object_(std::exchange(other.object_, nullptr)),
        view_(std::exchange(other.view_, dlx_view DLX_EMPTY_VIEW)) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { clear(); }

  const DLTensor& dl() const { return managed_ != nullptr ? managed_->dl_tensor : view_.tensor; }
  int64_t size(int i) const { return dl().shape[i < 0 ? i + dl().ndim : i]; }
  template <class T = void>
  T* data() const {
    return reinterpret_cast<T*>(static_cast<char*>(dl().data) + dl().byte_offset);
  }

  // The framework's own object: a new reference for the caller, or nullptr with an exception. The Output is empty then.
  PyObject* release() {
    PyObject* object = std::exchange(object_, nullptr);
    if (DLManagedTensorVersioned* managed = std::exchange(managed_, nullptr)) object = dlx_to_object(api_, managed);
    clear();
    return object;
  }

 private:
  friend class Call;

  void clear() {
    dlx_release(&view_);
    if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
    Py_XDECREF(object_);
    managed_ = nullptr;
    object_ = nullptr;
  }

  const DLPackExchangeAPI* api_ = nullptr;
  DLManagedTensorVersioned* managed_ = nullptr;
  PyObject* object_ = nullptr;  // where there is no table
  dlx_view view_ = DLX_EMPTY_VIEW;
};

// A tensor's memory, kept until this ends: also after the call, on any thread, and with a table without the GIL
// (dlpack.h lets a deleter run anywhere; that of a framework without a table may need the GIL, so end it with the GIL
// there).
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept
      : managed_(std::exchange(other.managed_, nullptr)), legacy_(std::exchange(other.legacy_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(managed_, other.managed_);
    std::swap(legacy_, other.legacy_);
    return *this;
  }
  ~Owned() {
    if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
    if (legacy_ != nullptr && legacy_->deleter != nullptr) legacy_->deleter(legacy_);
  }

  explicit operator bool() const { return managed_ != nullptr || legacy_ != nullptr; }
  const DLTensor& dl() const { return managed_ != nullptr ? managed_->dl_tensor : legacy_->dl_tensor; }
  template <class T = void>
  T* data() const {
    return reinterpret_cast<T*>(static_cast<char*>(dl().data) + dl().byte_offset);
  }

 private:
  friend class Tensor;

  DLManagedTensorVersioned* managed_ = nullptr;
  DLManagedTensor* legacy_ = nullptr;
};

inline bool Call::empty(Output* out, DLDataType dtype, const int64_t* shape, int ndim) {
  const Tensor* like = lead_ != nullptr ? lead_ : some_;
  if (like == nullptr) return fail(PyExc_SystemError, "makes a tensor like its arguments, and none of them is one");
  out->clear();
  out->api_ = like->api_;
  bool made = false;
  if (out->api_ != nullptr && out->api_->managed_tensor_allocator != nullptr) {
    DLTensor prototype{nullptr, device(), ndim, dtype, const_cast<int64_t*>(shape), nullptr, 0};
    made = dlx_allocate(out->api_, &prototype, &out->managed_) == 0;
  } else {
    out->object_ = dlx_make_by_python(like->object(), dtype, shape, ndim);
    made = out->object_ != nullptr && dlx_borrow(out->object_, &out->view_) == 0;
  }
  if (made) return true;
  PyObject* its_place = signature_ != nullptr ? PyUnicode_FromFormat("%s: the output", signature_->function)
                                              : PyUnicode_FromString("the output");
  dlx_error_at(its_place);
  Py_XDECREF(its_place);
  return false;
}

inline bool Call::empty_like(Output* out, const Tensor& like) {
  return empty(out, like.dtype(), like.tensor_.shape, like.ndim());
}

inline bool Tensor::own(Owned* out) const {
  Owned owned;
  if (api_ != nullptr) {
    if (api_->managed_tensor_from_py_object_no_sync == nullptr) {
      return fail(PyExc_BufferError,
                  "its table has no function managed_tensor_from_py_object_no_sync, so its memory cannot be kept");
    }
    if (api_->managed_tensor_from_py_object_no_sync(object_, &owned.managed_) != 0 || owned.managed_ == nullptr) {
      dlx_failed("managed_tensor_from_py_object_no_sync");
      return blame();
    }
  } else {
    // A capsule of its own, because the view keeps its one. The new name says that the memory is no longer the
    // capsule's.
    PyObject* capsule = nullptr;
    if (dlx_call_dlpack(object_, device(), more_->view.stream, &capsule) < 0) return blame();
    if (void* managed = PyCapsule_GetPointer(capsule, "dltensor_versioned")) {
      owned.managed_ = static_cast<DLManagedTensorVersioned*>(managed);
      PyCapsule_SetName(capsule, "used_dltensor_versioned");
    } else {
      PyErr_Clear();
      owned.legacy_ = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
      if (owned.legacy_ != nullptr) PyCapsule_SetName(capsule, "used_dltensor");
    }
    Py_DECREF(capsule);
    if (!owned) return blame();
  }
  *out = std::move(owned);
  return true;
}

inline bool Tensor::record_stream(void* stream) const {
  return dlx_record_stream(object_, device(), stream) == 0 || blame();
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_OUTPUT_H_

// What the type casters of pybind11.h and nanobind.h share. They take one argument at a time; Call::join then makes one
// call of the tensors, with one device, one stream and one value for each named size.
#ifndef DLX_CASTERS_H_
#define DLX_CASTERS_H_

#include <initializer_list>

#include "output.h"

namespace dlx DLX_HIDDEN {

// A tensor argument, borrowed when the function's parameter asks for it: then Error may be thrown, which is the
// library's class for an exception that Python has set. Lives as long as the function runs, and is used with the GIL.
template <class Error>
class Argument {
 public:
  Argument() = default;
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

  // What a caster converts to, for a parameter of type T.
  template <class T>
  using To = std::conditional_t<std::is_pointer_v<std::remove_reference_t<T>>, std::decay_t<T>, T>;

  operator Tensor*() { return object_ == Py_None ? nullptr : borrow(Allow{}); }
  operator const Tensor*() { return object_ == Py_None ? nullptr : borrow(read_only_too); }
  operator Tensor&() { return *borrow(Allow{}); }
  operator const Tensor&() { return *borrow(read_only_too); }

 protected:
  void take(PyObject* object) { object_ = object; }

 private:
  Tensor* borrow(Allow allow) {
    tensor_.allow_ = allow;
    call_.given_ = &object_;
    call_.count_ = 1;
    if (!call_.args(&tensor_)) throw Error();
    return &tensor_;
  }

  PyObject* object_ = nullptr;
  Call call_;
  Tensor tensor_;
};

// Those with a table come first, so that one of them is asked for the stream.
inline bool Call::join(std::initializer_list<const Tensor*> tensors) {
  for (const bool has_table : {true, false}) {
    int position = 0;
    for (const Tensor* given : tensors) {
      auto* tensor = const_cast<Tensor*>(given);  // its caster's, whose caller has only a view of it
      if (tensor != nullptr && (tensor->api_ != nullptr) == has_table) {
        tensor->call_ = this;
        tensor->position_ = position;
        if (!place(tensor)) return false;
      }
      ++position;
    }
  }
  return host_ == nullptr || lead_ == nullptr || elsewhere(host_);
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_CASTERS_H_

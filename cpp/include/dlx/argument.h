// A tensor that something else than dlx::Call takes from Python, one argument at a time: the type casters of pybind11.h
// and nanobind.h. Call::join then makes one call of them, with one device, one stream and names shared.
#ifndef DLX_ARGUMENT_H_
#define DLX_ARGUMENT_H_

#include <initializer_list>

#include "output.h"

namespace dlx DLX_HIDDEN {

// Lives as long as the function runs, and is used with the GIL; borrows the object, which the caller holds.
class Argument {
 public:
  Argument() = default;
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;

  void take(PyObject* object) { object_ = object; }
  bool is_none() const { return object_ == Py_None; }

  // The borrowed view; NULL with an exception. `allow` may be read_only_too.
  Tensor* borrow(Allow allow);

 private:
  PyObject* object_ = nullptr;
  Call call_;
  Tensor tensor_;
};

inline Tensor* Argument::borrow(Allow allow) {
  tensor_.allow_ = allow;
  call_.given_ = &object_;
  call_.count_ = 1;
  return call_.args(&tensor_) ? &tensor_ : nullptr;
}

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

#endif  // DLX_ARGUMENT_H_

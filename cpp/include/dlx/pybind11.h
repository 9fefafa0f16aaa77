// pybind11 takes dlx::Tensor& for memory that the function writes, const dlx::Tensor& for memory that it only reads, and
// pointers to them for arguments that may be None; a function may return a dlx::Output.
//
//   m.def("saxpy", [](double a, const dlx::Tensor& x, const dlx::Tensor& y, dlx::Tensor& out) {
//     dlx::Call call(kSaxpy);
//     if (!call.join({&x, &y, &out}) || !x.require(dlx::float32, {"n"}) || ...) throw py::error_already_set();
//
// The views belong to the running call, as everywhere in the kit: do not keep them, and hold the GIL where you use them.
// What is no tensor ends the call with the reason, so overloads that take other types come first.
#ifndef DLX_PYBIND11_H_
#define DLX_PYBIND11_H_

#include <pybind11/pybind11.h>

#include "argument.h"
#include "consumer.h"

namespace pybind11::detail {

template <>
struct type_caster<dlx::Tensor> {
  static constexpr auto name = const_name("dlx.Tensor");
  template <class T>
  using cast_op_type = std::conditional_t<std::is_pointer_v<std::remove_reference_t<T>>, std::decay_t<T>, T>;

  bool load(handle source, bool) {
    argument_.take(source.ptr());
    return true;
  }
  operator dlx::Tensor*() { return argument_.is_none() ? nullptr : borrow(dlx::Allow{}); }
  operator const dlx::Tensor*() { return argument_.is_none() ? nullptr : borrow(dlx::read_only_too); }
  operator dlx::Tensor&() { return *borrow(dlx::Allow{}); }
  operator const dlx::Tensor&() { return *borrow(dlx::read_only_too); }

 private:
  dlx::Tensor* borrow(dlx::Allow allow) {
    dlx::Tensor* tensor = argument_.borrow(allow);
    if (tensor == nullptr) throw error_already_set();
    return tensor;
  }

  dlx::Argument argument_;
};

template <>
struct type_caster<dlx::Output> {
  static constexpr auto name = const_name("object");

  static handle cast(dlx::Output&& made, return_value_policy, handle) {
    PyObject* object = made.release();
    if (object == nullptr) throw error_already_set();
    return object;
  }
};

}  // namespace pybind11::detail

#endif  // DLX_PYBIND11_H_

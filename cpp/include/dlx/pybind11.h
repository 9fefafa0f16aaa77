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

#include "casters.h"
#include "consumer.h"

namespace pybind11::detail {

template <>
struct type_caster<dlx::Tensor> : dlx::Argument<error_already_set> {
  static constexpr auto name = const_name("dlx.Tensor");
  template <class T>
  using cast_op_type = To<T>;

  bool load(handle source, bool) {
    take(source.ptr());
    return true;
  }
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

// nanobind takes dlx::Tensor& for memory that the function writes, const dlx::Tensor& for memory that it only reads, and
// pointers to them for arguments that may be None ("x"_a.none()); a function may return a dlx::Output.
//
//   m.def("saxpy", [](double a, const dlx::Tensor& x, const dlx::Tensor& y, dlx::Tensor& out) {
//     dlx::Call call(kSaxpy);
//     if (!call.join({&x, &y, &out}) || !x.require(dlx::float32, {"n"}) || ...) throw nb::python_error();
//
// The views belong to the running call, as everywhere in the kit: do not keep them, and hold the GIL where you use them.
// What is no tensor ends the call with the reason, so overloads that take other types come first.
#ifndef DLX_NANOBIND_H_
#define DLX_NANOBIND_H_

#include <nanobind/nanobind.h>

#include "casters.h"
#include "consumer.h"

namespace nanobind::detail {

template <>
struct type_caster<dlx::Tensor> : dlx::Argument<python_error> {
  static constexpr auto Name = const_name("dlx.Tensor");
  template <class T>
  using Cast = To<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }

  // Borrows later, where it may throw: nanobind replaces what is raised here by a text without the reason.
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    take(source.ptr());
    return true;
  }
};

template <>
struct type_caster<dlx::Output> {
  static constexpr auto Name = const_name("object");

  static handle from_cpp(dlx::Output&& made, rv_policy, cleanup_list*) noexcept { return made.release(); }
};

}  // namespace nanobind::detail

#endif  // DLX_NANOBIND_H_

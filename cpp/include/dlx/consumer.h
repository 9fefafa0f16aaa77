// For authors of kernels: one binary for every torch and every framework that speaks DLPack, a call in tens of
// nanoseconds.
//
//   static constexpr dlx::Signature kSaxpy{"saxpy", {"a", "x", "y", "out"}};
//
//   static PyObject* saxpy(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
//     dlx::Call call(kSaxpy, given, count, keywords);
//     double a = 0;
//     dlx::Tensor x, y, out;
//     cudaStream_t stream = nullptr;
//     if (!call.args(&a, &x, &y, &out) || !call.stream(&stream)) return nullptr;
//     if (!x.require(dlx::float32, {"n"}) || !y.like(x) || !out.like(x)) return nullptr;
//     launch_saxpy(a, x.data<float>(), y.data<float>(), out.data<float>(), x.size(0), stream);
//     Py_RETURN_NONE;
//   }
//
// Header-only C++17 over Python.h and dlpack/dlpack.h, with Py_LIMITED_API 3.10 and without; no exceptions, no RTTI.
// For C and Cython: dlx/consumer_core.h. Copy the folders dlx and dlpack into another project as they are (Apache-2.0);
// nothing of dlx-torch-ext is needed when it runs. docs/authors.md has it step by step.
#ifndef DLX_CONSUMER_H_
#define DLX_CONSUMER_H_

#include "without_gil.h"

#endif  // DLX_CONSUMER_H_

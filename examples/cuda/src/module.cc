// The module: what the kernels ask of their arguments, and the stream that they run on.
#include <dlx/consumer.h>

#include "launch.h"

static constexpr dlx::Signature kSaxpy{"saxpy", {"a", "x", "y", "out"}}, kSoftmax{"softmax", {"x", "out"}};

namespace {

// `out`, or a new tensor like `like`: where the result goes, and what the function returns.
class Result {
 public:
  bool prepare(dlx::Call& call, const dlx::Tensor& like, const dlx::Tensor& out) {
    out_ = out ? &out : nullptr;
    return out_ != nullptr ? out.like(like) : call.empty_like(&made_, like);
  }
  float* data() const { return out_ != nullptr ? out_->data<float>() : made_.data<float>(); }
  PyObject* release() {
    if (out_ == nullptr) return made_.release();
    Py_INCREF(out_->object());
    return out_->object();
  }

 private:
  const dlx::Tensor* out_ = nullptr;
  dlx::Output made_;
};

}  // namespace

// A launch does not wait, so nothing has to be done for other threads of Python meanwhile.
static PyObject* saxpy(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kSaxpy, given, count, keywords);
  double a = 0;
  dlx::Tensor x(dlx::read_only_too), y(dlx::read_only_too), out;
  Result result;
  CUstream_st* stream = nullptr;
  if (!call.args(&a, &x, &y, dlx::maybe(&out)) || !x.on(kDLCUDA) || !call.stream(&stream)) return nullptr;
  if (!x.require(dlx::float32, {"n"}) || !y.like(x) || !result.prepare(call, x, out)) return nullptr;
  const char* problem = launch_saxpy(x.device().device_id, stream, static_cast<float>(a), x.data<const float>(),
                                     y.data<const float>(), result.data(), x.size(0));
  if (problem != nullptr) return call.fail(PyExc_RuntimeError, "%s", problem), nullptr;
  return result.release();
}

static PyObject* softmax(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kSoftmax, given, count, keywords);
  dlx::Tensor x(dlx::read_only_too), out;
  Result result;
  CUstream_st* stream = nullptr;
  if (!call.args(&x, dlx::maybe(&out)) || !x.on(kDLCUDA) || !call.stream(&stream)) return nullptr;
  if (!x.require(dlx::float32, {"rows", "columns"}) || !result.prepare(call, x, out)) return nullptr;
  const char* problem =
      launch_softmax(x.device().device_id, stream, x.data<const float>(), result.data(), x.size(0), x.size(1));
  if (problem != nullptr) return call.fail(PyExc_RuntimeError, "%s", problem), nullptr;
  return result.release();
}

static PyMethodDef methods[] = {
    {"saxpy", (PyCFunction)(void (*)())saxpy, METH_FASTCALL | METH_KEYWORDS, "saxpy(a, x, y, out=None): a * x + y"},
    {"softmax", (PyCFunction)(void (*)())softmax, METH_FASTCALL | METH_KEYWORDS, "softmax(x, out=None): of each row"},
    {nullptr, nullptr, 0, nullptr},
};
static PyModuleDef_Slot slots[] = {{0, nullptr}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "dlx_example_cuda", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_dlx_example_cuda() { return PyModuleDef_Init(&definition); }

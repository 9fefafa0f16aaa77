// A kernel author's extension for the tests: each function is one thing that the kit does.
#include <dlx/consumer.h>

namespace {

// Two tensors and a number, on the host.
constexpr dlx::Signature kSaxpy{"saxpy", {"a", "x", "y", "out"}};
PyObject* saxpy(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kSaxpy, given, count, keywords);
  double a = 0;
  dlx::Tensor x, y, out;
  if (!call.args(&a, &x, &y, dlx::maybe(&out)) || !x.require(dlx::float32, {"n"}) || !y.like(x)) return nullptr;
  if (out && !out.like(x)) return nullptr;
  if (!x.on(kDLCPU)) return nullptr;
  dlx::Output made;
  if (!out && !call.empty_like(&made, x)) return nullptr;
  float* to = out ? out.data<float>() : made.data<float>();
  for (int64_t i = 0; i < x.size(0); ++i) to[i] = static_cast<float>(a) * x.data<float>()[i] + y.data<float>()[i];
  if (!out) return made.release();
  Py_INCREF(out.object());
  return out.object();
}

PyObject* nop(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor x, y, z;
  if (!call.args(&x, &y, &z) || !x.require(dlx::float32, {"n"}) || !y.like(x) || !z.like(x)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* nop_with_stream(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor x, y, z;
  void* stream = nullptr;
  if (!call.args(&x, &y, &z) || !x.require(dlx::float32, {"n"}) || !y.like(x) || !z.like(x) || !call.stream(&stream))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* sizes(const int64_t* from, int count) {
  PyObject* tuple = PyTuple_New(count);
  for (int i = 0; tuple != nullptr && i < count; ++i) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(from[i]));
  return tuple;
}

PyObject* strides(const dlx::Tensor& x) {
  PyObject* tuple = PyTuple_New(x.ndim());
  for (int i = 0; tuple != nullptr && i < x.ndim(); ++i) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(x.stride(i)));
  return tuple;
}

// What a view says: shape, strides, dtype, device, address.
PyObject* describe(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor x(dlx::read_only_too);
  if (!call.args(&x)) return nullptr;
  return Py_BuildValue("(NNssK)", sizes(x.dl().shape, x.ndim()), strides(x), dlx::DTypeName(x.dtype()).text,
                       dlx::DeviceName(x.device()).text, reinterpret_cast<unsigned long long>(x.data()));
}

// The device and the stream of a call of up to three tensors; the third may be on the host.
constexpr dlx::Signature kWhere{"where", {"x", "y", "z"}};
PyObject* where(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kWhere, given, count, keywords);
  dlx::Tensor x, y, z(dlx::host_too);
  void* stream = nullptr;
  void* again = nullptr;
  if (!call.args(&x, dlx::maybe(&y), dlx::maybe(&z)) || !call.stream(&stream) || !call.stream(&again)) return nullptr;
  if (stream != again) return PyErr_Format(PyExc_AssertionError, "the stream changed in a call");
  return Py_BuildValue("(sK)", dlx::DeviceName(call.device()).text, reinterpret_cast<unsigned long long>(stream));
}

constexpr dlx::Signature kMatmul{"matmul", {"x", "y"}};
PyObject* matmul_sizes(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kMatmul, given, count, keywords);
  dlx::Tensor x, y;
  if (!call.args(&x, &y) || !x.require(dlx::float32, {"rows", "inner"}) || !y.require(dlx::float32, {"inner", 4}))
    return nullptr;
  Py_RETURN_NONE;
}

constexpr dlx::Signature kLayout{"layout", {"x", "kind"}};
PyObject* layout(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kLayout, given, count, keywords);
  dlx::Tensor x;
  const char* kind = nullptr;
  if (!call.args(&x, &kind)) return nullptr;
  const dlx::Layout wanted = kind[0] == 'c' ? dlx::contiguous : kind[0] == 'd' ? dlx::dense_rows : dlx::strided;
  if (!x.require(dlx::any_dtype, {dlx::any, dlx::any}, wanted) || (kind[0] == 'a' && !x.aligned(64))) return nullptr;
  Py_RETURN_NONE;
}

constexpr dlx::Signature kNumbers{"numbers", {"i", "l", "f", "b", "s"}};
PyObject* numbers(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kNumbers, given, count, keywords);
  int32_t i = 0;
  int64_t l = 0;
  float f = 0;
  bool b = false;
  const char* s = "not given";
  if (!call.args(&i, &l, &f, &b, dlx::maybe(&s))) return nullptr;
  return Py_BuildValue("(iLfOs)", i, static_cast<long long>(l), static_cast<double>(f), b ? Py_True : Py_False, s);
}

constexpr dlx::Signature kTotal{"total", {"xs"}};
PyObject* total(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kTotal, given, count, keywords);
  dlx::Tensors xs;
  if (!call.args(&xs)) return nullptr;
  long long elements = 0;
  for (const dlx::Tensor& x : xs) {
    if (!x.require(dlx::float32, {dlx::any})) return nullptr;
    elements += x.numel();
  }
  return PyLong_FromLongLong(elements);
}

constexpr dlx::Signature kNew{"new", {"like", "rows", "columns"}};
PyObject* make(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kNew, given, count, keywords);
  dlx::Tensor like(dlx::read_only_too);
  int64_t shape[2] = {0, 0};
  dlx::Output out;
  if (!call.args(&like, &shape[0], &shape[1]) || !call.empty(&out, like.dtype(), shape, 2)) return nullptr;
  return out.release();
}

// Makes a tensor and does not hand it over.
PyObject* make_and_drop(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor like;
  dlx::Output out;
  if (!call.args(&like) || !call.empty_like(&out, like)) return nullptr;
  Py_RETURN_NONE;
}

void drop_owned(PyObject* capsule) { delete static_cast<dlx::Owned*>(PyCapsule_GetPointer(capsule, "owned")); }

PyObject* own(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor x;
  dlx::Owned owned;
  if (!call.args(&x) || !x.own(&owned)) return nullptr;
  return PyCapsule_New(new dlx::Owned(std::move(owned)), "owned", drop_owned);
}

PyObject* read_owned(PyObject*, PyObject* capsule) {
  return PyFloat_FromDouble(*static_cast<dlx::Owned*>(PyCapsule_GetPointer(capsule, "owned"))->data<float>());
}

// Calls `meanwhile` while the GIL is released, as another thread may, and says the sizes afterwards.
constexpr dlx::Signature kWithoutGil{"without_gil", {"x", "meanwhile"}};
PyObject* without_gil(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* keywords) {
  dlx::Call call(kWithoutGil, given, count, keywords);
  dlx::Tensor x;
  PyObject* meanwhile = nullptr;
  PyObject* answer = nullptr;
  if (!call.args(&x, &meanwhile)) return nullptr;
  {
    const dlx::WithoutGil released(x);
    const PyGILState_STATE taken = PyGILState_Ensure();
    answer = PyObject_CallFunctionObjArgs(meanwhile, nullptr);
    PyGILState_Release(taken);
  }
  if (answer == nullptr) return nullptr;
  Py_DECREF(answer);
  return Py_BuildValue("(NN)", sizes(x.dl().shape, x.ndim()), strides(x));
}

PyObject* record_stream(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor x;
  int64_t stream = 0;
  if (!call.args(&x, &stream) || !x.record_stream(reinterpret_cast<void*>(stream))) return nullptr;
  Py_RETURN_NONE;
}

// Calls the kit while an exception is pending.
PyObject* while_pending(PyObject*, PyObject* const* given, Py_ssize_t count) {
  PyErr_SetString(PyExc_KeyError, "pending");
  dlx::Call call(given, count);
  dlx::Tensor x;
  if (call.args(&x)) x.require(dlx::int8, {});
  return nullptr;
}

PyObject* forget_tables(PyObject*, PyObject*) {
  dlx_forget_tables();
  Py_RETURN_NONE;
}

PyObject* is_remembered(PyObject*, PyObject* type) {
  return PyBool_FromLong(dlx_remembered(reinterpret_cast<PyTypeObject*>(type)) != nullptr);
}

// The table of a type whose objects are all the same number, for interpreters that cannot import torch or ctypes.
int64_t number = 42;
int view_number(void*, DLTensor* out) {
  *out = {&number, {kDLCPU, 0}, 0, dlx::int64, nullptr, nullptr, 0};
  return 0;
}
DLPackExchangeAPI table_of_numbers = {{{1, 3}, nullptr}, nullptr, nullptr, nullptr, view_number, nullptr};
PyObject* constant_table(PyObject*, PyObject*) {
  return PyCapsule_New(&table_of_numbers, "dlpack_exchange_api", nullptr);
}

template <class F>
PyMethodDef method(const char* name, F* function, int flags) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), flags, nullptr};
}

PyMethodDef methods[] = {
    method("saxpy", saxpy, METH_FASTCALL | METH_KEYWORDS),
    method("nop", nop, METH_FASTCALL),
    method("nop_with_stream", nop_with_stream, METH_FASTCALL),
    method("describe", describe, METH_FASTCALL),
    method("where", where, METH_FASTCALL | METH_KEYWORDS),
    method("matmul_sizes", matmul_sizes, METH_FASTCALL | METH_KEYWORDS),
    method("layout", layout, METH_FASTCALL | METH_KEYWORDS),
    method("numbers", numbers, METH_FASTCALL | METH_KEYWORDS),
    method("total", total, METH_FASTCALL | METH_KEYWORDS),
    method("new", make, METH_FASTCALL | METH_KEYWORDS),
    method("make_and_drop", make_and_drop, METH_FASTCALL),
    method("own", own, METH_FASTCALL),
    method("read_owned", read_owned, METH_O),
    method("without_gil", without_gil, METH_FASTCALL | METH_KEYWORDS),
    method("record_stream", record_stream, METH_FASTCALL),
    method("while_pending", while_pending, METH_FASTCALL),
    method("forget_tables", forget_tables, METH_NOARGS),
    method("is_remembered", is_remembered, METH_O),
    method("constant_table", constant_table, METH_NOARGS),
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "kit", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_kit() { return PyModuleDef_Init(&definition); }

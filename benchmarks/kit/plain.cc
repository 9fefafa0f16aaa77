// The same call in the kit, and as the least that reads the table: one remembered type and no check at all.
#include <dlx/consumer.h>

namespace {

PyObject* plain(PyObject*, PyObject* const* given, Py_ssize_t count) {
  static PyTypeObject* type = nullptr;
  static const DLPackExchangeAPI* api = nullptr;
  DLTensor tensors[3];
  for (Py_ssize_t i = 0; i < count && i < 3; ++i) {
    if (Py_TYPE(given[i]) != type) {
      PyObject* capsule =
          PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(given[i])), "__dlpack_c_exchange_api__");
      if (capsule == nullptr) return nullptr;
      api = static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
      Py_DECREF(capsule);
      type = Py_TYPE(given[i]);
    }
    if (api->dltensor_from_py_object_no_sync(given[i], &tensors[i]) != 0) return nullptr;
  }
  Py_RETURN_NONE;
}

constexpr dlx::Signature kNop{"nop", {"x", "y", "z"}};

PyObject* kit(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(kNop, given, count);
  dlx::Tensor x, y, z;
  if (!call.args(&x, &y, &z) || !x.require(dlx::float32, {"n"}) || !y.like(x) || !z.like(x)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* kit_with_stream(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(kNop, given, count);
  dlx::Tensor x, y, z;
  void* stream = nullptr;
  if (!call.args(&x, &y, &z) || !x.require(dlx::float32, {"n"}) || !y.like(x) || !z.like(x) || !call.stream(&stream))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* output(PyObject*, PyObject* const* given, Py_ssize_t count) {
  dlx::Call call(given, count);
  dlx::Tensor x;
  dlx::Output made;
  if (!call.args(&x) || !call.empty_like(&made, x)) return nullptr;
  return made.release();
}

PyCFunction cast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {
    {"plain", cast(plain), METH_FASTCALL, nullptr},
    {"kit", cast(kit), METH_FASTCALL, nullptr},
    {"kit_with_stream", cast(kit_with_stream), METH_FASTCALL, nullptr},
    {"output", cast(output), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef_Slot slots[] = {{0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "plain", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_plain() { return PyModuleDef_Init(&definition); }

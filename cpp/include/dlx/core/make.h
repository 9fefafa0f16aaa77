/*
 * New tensors of an argument's framework, and memory that outlives a call: with the table, and without one through
 * Python.
 */
#ifndef DLX_CORE_MAKE_H_
#define DLX_CORE_MAKE_H_

#include <string.h>

#include "view.h"

/*
 * DLPack's SetError: makes it a Python exception. `kind` is the name of one. The caller of the allocator holds the GIL.
 */
DLX_INLINE void dlx_set_error(void* context, const char* kind, const char* message) {
  PyObject* kinds[] = {PyExc_MemoryError, PyExc_ValueError, PyExc_BufferError, PyExc_TypeError,
                       PyExc_NotImplementedError};
  const char* names[] = {"MemoryError", "ValueError", "BufferError", "TypeError", "NotImplementedError"};
  PyObject* type = PyExc_RuntimeError;
  size_t i;
  (void)context;
  for (i = 0; kind != NULL && i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(kind, names[i]) == 0) type = kinds[i];
  }
  PyErr_SetString(type, message != NULL ? message : "no reason given");
}

/*
 * A new tensor by the table, as a managed tensor that the caller owns. 0, or -1 with an exception. The caller holds the
 * GIL.
 */
DLX_INLINE int dlx_allocate(const DLPackExchangeAPI* api, DLTensor* prototype, DLManagedTensorVersioned** out) {
  *out = NULL;
  if (api->managed_tensor_allocator(prototype, out, NULL, dlx_set_error) == 0 && *out != NULL) return 0;
  return dlx_failed("managed_tensor_allocator");
}

/*
 * Hands a managed tensor to the framework, which makes its own Python object of it: a new reference, or NULL with an
 * exception. The managed tensor is gone in either case: dlpack.h says that it is stolen, and what failed is deleted
 * here.
 */
DLX_INLINE PyObject* dlx_to_object(const DLPackExchangeAPI* api, DLManagedTensorVersioned* managed) {
  void* object = NULL;
  if (api->managed_tensor_to_py_object_no_sync != NULL &&
      api->managed_tensor_to_py_object_no_sync(managed, &object) == 0 && object != NULL) {
    return (PyObject*)object;
  }
  dlx_failed("managed_tensor_to_py_object_no_sync");
  if (managed->deleter != NULL) {
    const dlx_pending old = dlx_set_aside();
    managed->deleter(managed);
    dlx_put_back(old);
  }
  return NULL;
}

/*
 * The module that makes tensors like this one: torch, object.__array_namespace__(), or the package of its type. A new
 * reference.
 */
DLX_INLINE PyObject* dlx_namespace_of(PyObject* object) {
  PyObject* found = dlx_torch_of(object);
  PyObject *method = NULL, *name = NULL, *parts = NULL;
  if (found != NULL) return found;
  method = dlx_attribute(object, "__array_namespace__");
  if (method != NULL) {
    found = PyObject_CallFunctionObjArgs(method, NULL);
    Py_DECREF(method);
    return found;
  }
  if (PyErr_Occurred()) return NULL;
  name = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__module__");
  parts = name != NULL ? PyObject_CallMethod(name, "partition", "s", ".") : NULL;
  if (parts != NULL && PyTuple_Check(parts)) found = PyImport_Import(PyTuple_GetItem(parts, 0));
  Py_XDECREF(parts);
  Py_XDECREF(name);
  return found;
}

/* namespace.empty(shape, dtype=..., device=like.device): a new reference, or NULL with an exception. */
DLX_INLINE PyObject* dlx_make_by_python(PyObject* like, DLDataType dtype, const int64_t* shape, int ndim) {
  char name[40];
  PyObject* space = dlx_namespace_of(like);
  PyObject* function = space != NULL ? PyObject_GetAttrString(space, "empty") : NULL;
  PyObject* type = NULL;
  PyObject *device = NULL, *keywords = NULL, *sizes = NULL, *made = NULL;
  int i;
  dlx_dtype_name(dtype, name, sizeof(name));
  if (function != NULL) type = PyObject_GetAttrString(space, name);
  if (type != NULL) device = dlx_attribute(like, "device"); /* numpy's have one from 2.0 on */
  if (type != NULL && !PyErr_Occurred()) sizes = PyTuple_New(ndim);
  for (i = 0; sizes != NULL && i < ndim; ++i) {
    PyObject* size = PyLong_FromLongLong(shape[i]);
    if (size == NULL || PyTuple_SetItem(sizes, i, size) != 0) Py_CLEAR(sizes);
  }
  if (sizes != NULL)
    keywords = device != NULL ? Py_BuildValue("{sOsO}", "dtype", type, "device", device)
                              : Py_BuildValue("{sO}", "dtype", type);
  if (keywords != NULL) {
    PyObject* arguments = Py_BuildValue("(O)", sizes);
    if (arguments != NULL) made = PyObject_Call(function, arguments, keywords);
    Py_XDECREF(arguments);
  }
  Py_XDECREF(keywords);
  Py_XDECREF(sizes);
  Py_XDECREF(device);
  Py_XDECREF(type);
  Py_XDECREF(function);
  Py_XDECREF(space);
  return made;
}

/*
 * A new tensor of the framework of `like`, on its device, not initialised: a new reference, or NULL with an exception.
 * The caller holds the GIL.
 */
DLX_INLINE PyObject* dlx_empty(const dlx_view* like, DLDataType dtype, const int64_t* shape, int ndim) {
  DLTensor prototype = {NULL, like->tensor.device, ndim, dtype, (int64_t*)shape, NULL, 0};
  DLManagedTensorVersioned* managed;
  if (like->api == NULL || like->api->managed_tensor_allocator == NULL)
    return dlx_make_by_python(like->object, dtype, shape, ndim);
  return dlx_allocate(like->api, &prototype, &managed) == 0 ? dlx_to_object(like->api, managed) : NULL;
}

/*
 * Tells the framework that a tensor's memory is used on `stream`, which is not the one that it was made on, so that its
 * allocator does not give the memory away before that work is done: torch's Tensor.record_stream. Does nothing for host
 * memory and where the framework has no such function. 0, or -1 with an exception.
 */
DLX_INLINE int dlx_record_stream(PyObject* object, DLDevice device, void* stream) {
  const char* handle = NULL;
  PyObject* torch = dlx_on_host(device.device_type) ? NULL : dlx_torch_of(object);
  PyObject* interface = torch != NULL ? dlx_torch_interface(torch, device, &handle) : NULL;
  PyObject *external = NULL, *done = NULL;
  if (interface != NULL) {
    PyObject* type = PyObject_GetAttrString(interface, "ExternalStream");
    PyObject* number = type != NULL ? PyLong_FromVoidPtr(stream) : NULL;
    external = number != NULL ? PyObject_CallFunction(type, "Oi", number, (int)device.device_id) : NULL;
    Py_XDECREF(number);
    Py_XDECREF(type);
  }
  if (external != NULL) done = PyObject_CallMethod(object, "record_stream", "O", external);
  Py_XDECREF(done);
  Py_XDECREF(external);
  Py_XDECREF(interface);
  Py_XDECREF(torch);
  return PyErr_Occurred() ? -1 : 0;
}

#endif /* DLX_CORE_MAKE_H_ */

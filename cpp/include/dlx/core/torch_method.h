/*
 * What the standard's __dlpack__ does not say about torch, asked through Python where torch has no table: its current
 * stream, and what its __dlpack__ refuses although the table describes it. torch is only looked up in sys.modules,
 * never imported.
 */
#ifndef DLX_CORE_TORCH_METHOD_H_
#define DLX_CORE_TORCH_METHOD_H_

#include "errors.h"

/* torch, if the object is one of its tensors: a new reference. NULL without an exception otherwise. */
DLX_INLINE PyObject* dlx_torch_of(PyObject* object) {
  PyObject* modules = PySys_GetObject("modules"); /* borrowed */
  PyObject* torch = modules != NULL ? PyMapping_GetItemString(modules, "torch") : NULL;
  PyObject* type = torch != NULL ? PyObject_GetAttrString(torch, "Tensor") : NULL;
  const int is = type != NULL ? PyObject_IsInstance(object, type) : 0;
  Py_XDECREF(type);
  if (is == 1) return torch;
  Py_XDECREF(torch);
  PyErr_Clear();
  return NULL;
}

/*
 * torch.cuda and so on for a device type, with the attribute that has a stream's handle; NULL without an exception for
 * others.
 */
DLX_INLINE PyObject* dlx_torch_interface(PyObject* torch, DLDevice device, const char** handle) {
  switch ((int)device.device_type) {
    case kDLCUDA:
    case kDLCUDAManaged:
    case kDLROCM: *handle = "cuda_stream"; return PyObject_GetAttrString(torch, "cuda");
    case kDLExtDev:
    case 21: *handle = "npu_stream"; return PyObject_GetAttrString(torch, "npu");
    case kDLOneAPI: *handle = "sycl_queue"; return PyObject_GetAttrString(torch, "xpu");
    default: return NULL;
  }
}

/*
 * The stream to work on for an object without a table: torch's current one on that device; for other frameworks the
 * default stream (NULL), with which the standard lets __dlpack__ put the object's work in order. 0, or -1 with an
 * exception.
 */
DLX_INLINE int dlx_current_stream(PyObject* object, DLDevice device, void** out) {
  const char* handle = NULL;
  PyObject* torch = dlx_torch_of(object);
  PyObject* interface = torch != NULL ? dlx_torch_interface(torch, device, &handle) : NULL;
  PyObject* stream =
      interface != NULL ? PyObject_CallMethod(interface, "current_stream", "i", (int)device.device_id) : NULL;
  PyObject* number = stream != NULL ? PyObject_GetAttrString(stream, handle) : NULL;
  *out = number != NULL ? PyLong_AsVoidPtr(number) : NULL;
  Py_XDECREF(number);
  Py_XDECREF(stream);
  Py_XDECREF(interface);
  Py_XDECREF(torch);
  return PyErr_Occurred() ? -1 : 0;
}

/* The object, or object.detach() if it is a tensor of torch's that requires a gradient. A new reference. */
DLX_INLINE PyObject* dlx_torch_detached(PyObject* object) {
  PyObject* torch = dlx_torch_of(object);
  PyObject* needs = torch != NULL ? PyObject_GetAttrString(object, "requires_grad") : NULL;
  const int failed = torch != NULL && needs == NULL;
  const int detach = needs == Py_True;
  Py_XDECREF(needs);
  Py_XDECREF(torch);
  if (failed) return NULL;
  if (detach) return PyObject_CallMethod(object, "detach", NULL);
  Py_INCREF(object);
  return object;
}

/*
 * Makes the device torch's current one until dlx_torch_leave_device; does nothing for host memory and other frameworks.
 */
DLX_INLINE int dlx_torch_enter_device(PyObject* object, DLDevice device, PyObject** guard) {
  const char* handle = NULL;
  PyObject* torch = dlx_torch_of(object);
  PyObject* interface = torch != NULL ? dlx_torch_interface(torch, device, &handle) : NULL;
  PyObject* entered = NULL;
  if (interface != NULL) *guard = PyObject_CallMethod(interface, "device", "i", (int)device.device_id);
  if (*guard != NULL) entered = PyObject_CallMethod(*guard, "__enter__", NULL);
  if (entered == NULL) Py_CLEAR(*guard);
  Py_XDECREF(entered);
  Py_XDECREF(interface);
  Py_XDECREF(torch);
  return PyErr_Occurred() ? -1 : 0;
}

/* Keeps a pending exception. */
DLX_INLINE void dlx_torch_leave_device(PyObject* guard) {
  if (guard != NULL) {
    const dlx_pending old = dlx_set_aside();
    Py_XDECREF(PyObject_CallMethod(guard, "__exit__", "OOO", Py_None, Py_None, Py_None));
    dlx_put_back(old);
    Py_DECREF(guard);
  }
}

#endif /* DLX_CORE_TORCH_METHOD_H_ */

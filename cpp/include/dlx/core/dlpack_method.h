/*
 * Reads a tensor whose type has no table, through the methods __dlpack_device__ and __dlpack__ of the array API
 * standard (data-apis.org/array-api, "Data interchange mechanisms"): microseconds in place of nanoseconds.
 */
#ifndef DLX_CORE_DLPACK_METHOD_H_
#define DLX_CORE_DLPACK_METHOD_H_

#include "torch_method.h"

/* object.__dlpack_device__(), a new reference; TypeError if the object is no tensor at all. */
DLX_INLINE PyObject* dlx_ask_device(PyObject* object) {
  PyObject *answer = NULL, *name = NULL;
  PyObject* method = dlx_attribute(object, "__dlpack_device__");
  if (method != NULL) {
    answer = PyObject_CallFunctionObjArgs(method, NULL);
  } else if (!PyErr_Occurred()) {
    name = dlx_type_name(Py_TYPE(object));
    PyErr_Format(PyExc_TypeError, "a tensor is needed; '%U' has neither a table of DLPack 1 nor __dlpack__", name);
  }
  Py_XDECREF(name);
  Py_XDECREF(method);
  return answer;
}

/* The device of a tensor without a table. 0, or -1 with an exception: TypeError if the object is no tensor at all. */
DLX_INLINE int dlx_device_of(PyObject* object, DLDevice* out) {
  const dlx_pending old = dlx_set_aside();
  PyObject* answer = dlx_ask_device(object);
  int type = 0, id = 0, failed;
  if (answer != NULL && !PyTuple_Check(answer)) {
    PyErr_Format(PyExc_TypeError, "__dlpack_device__() gave %R; a device type and an index are needed", answer);
  } else if (answer != NULL) {
    PyArg_ParseTuple(answer, "ii;__dlpack_device__() must give a device type and an index", &type, &id);
  }
  failed = PyErr_Occurred() != NULL;
  Py_XDECREF(answer);
  dlx_put_back(old);
  out->device_type = (DLDeviceType)type;
  out->device_id = id;
  return failed ? -1 : 0;
}
/*
 * Which number __dlpack__ takes for a stream: on CUDA 1 is the default stream and 0 is not allowed, on ROCm 0 is the
 * default stream.
 */
DLX_INLINE PyObject* dlx_stream_number(DLDevice device, void* stream) {
  if (device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged) {
    return PyLong_FromVoidPtr(stream != NULL ? stream : (void*)1);
  }
  if (device.device_type == kDLROCM) return PyLong_FromVoidPtr(stream);
  Py_INCREF(Py_None); /* host memory has no stream, and the standard names none for other devices */
  return Py_None;
}

/*
 * The keyword arguments; with `newer` those that came with DLPack 1.0: the version that is wanted, and no copy, which
 * hides writes.
 */
DLX_INLINE PyObject* dlx_keywords(PyObject* stream, int newer) {
  PyObject* keywords = PyDict_New();
  PyObject* version = newer ? Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION) : NULL;
  int failed = keywords == NULL || (newer && version == NULL);
  if (!failed && stream != Py_None) failed = PyDict_SetItemString(keywords, "stream", stream);
  if (!failed && newer) failed = PyDict_SetItemString(keywords, "max_version", version);
  if (!failed && newer) failed = PyDict_SetItemString(keywords, "copy", Py_False);
  Py_XDECREF(version);
  if (failed) Py_CLEAR(keywords);
  return keywords;
}

DLX_INLINE PyObject* dlx_call_with(PyObject* method, PyObject* stream, int newer) {
  PyObject* none = PyTuple_New(0);
  PyObject* keywords = dlx_keywords(stream, newer);
  PyObject* capsule = none != NULL && keywords != NULL ? PyObject_Call(method, none, keywords) : NULL;
  Py_XDECREF(keywords);
  Py_XDECREF(none);
  return capsule;
}

/*
 * object.__dlpack__(): the capsule, a new reference. The memory stays the capsule's: it is borrowed, so the capsule
 * keeps its name.
 *
 * torch refuses what requires a gradient, which the table describes: both shall do the same, so such a tensor is
 * detached. And it exports a tensor of its current device only.
 */
DLX_INLINE int dlx_call_dlpack(PyObject* object, DLDevice device, void* stream, PyObject** out) {
  PyObject *guard = NULL, *number = NULL, *method = NULL;
  PyObject* source = dlx_torch_detached(object);
  *out = NULL;
  if (source != NULL && dlx_torch_enter_device(object, device, &guard) == 0) {
    method = PyObject_GetAttrString(source, "__dlpack__");
    number = method != NULL ? dlx_stream_number(device, stream) : NULL;
    *out = number != NULL ? dlx_call_with(method, number, 1) : NULL;
    if (*out == NULL && number != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear(); /* the method may be older than these keywords */
      *out = dlx_call_with(method, number, 0);
    }
    dlx_torch_leave_device(guard);
  }
  Py_XDECREF(number);
  Py_XDECREF(method);
  Py_XDECREF(source);
  return *out != NULL ? 0 : -1;
}

/* Describes what is in a capsule of either name. 0, or -1 with an exception. The memory stays the capsule's. */
DLX_INLINE int dlx_read_capsule(PyObject* capsule, DLTensor* tensor, uint64_t* flags) {
  *flags = 0;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    DLManagedTensorVersioned* managed = (DLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->version.major != DLPACK_MAJOR_VERSION) {
      return dlx_error(PyExc_BufferError, "__dlpack__() gave DLPack %d.%d; %d.x is needed", (int)managed->version.major,
                       (int)managed->version.minor, DLPACK_MAJOR_VERSION);
    }
    *flags = managed->flags;
    *tensor = managed->dl_tensor;
  } else if (PyCapsule_IsValid(capsule, "dltensor")) { /* as before DLPack 1.0 */
    *tensor = ((DLManagedTensor*)PyCapsule_GetPointer(capsule, "dltensor"))->dl_tensor;
  } else {
    return dlx_error(PyExc_TypeError, "__dlpack__() gave %R; a capsule 'dltensor_versioned' or 'dltensor' is needed",
                     capsule);
  }
  return 0;
}

#endif /* DLX_CORE_DLPACK_METHOD_H_ */

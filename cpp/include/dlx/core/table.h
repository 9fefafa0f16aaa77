/*
 * Finds the table of a type: DLPack's exchange API, a struct of five C functions that the type's framework provides.
 *
 * dlpack.h: "this must be defined on the type. The consumer should look up the attribute on the type and may cache the
 * result for each unique type"; the table lives as long as the process.
 *
 * A type without a table is asked each time, so a table that is attached later is seen at once. A table that was taken
 * off or replaced is seen after at most DLX_LOOK_AGAIN uses; until then the old one is used, which stays valid.
 * dlx_forget_tables() does not wait.
 */
#ifndef DLX_CORE_TABLE_H_
#define DLX_CORE_TABLE_H_

#include "slots.h"

/*
 * Reads type.name, which is a table's capsule, its address, or None for no table; 0 if there is no such attribute, else
 * 1, or -1.
 */
DLX_INLINE int dlx_read_attribute(PyTypeObject* type, const char* name, const DLPackExchangeAPI** out) {
  PyObject* value = dlx_attribute((PyObject*)type, name);
  if (value == NULL) return PyErr_Occurred() ? -1 : 0;
  if (PyLong_Check(value)) { /* as the attribute was before DLPack 1.3 */
    *out = (const DLPackExchangeAPI*)PyLong_AsVoidPtr(value);
  } else if (value != Py_None) {
    *out = (const DLPackExchangeAPI*)PyCapsule_GetPointer(value, "dlpack_exchange_api");
    if (*out == NULL) {
      PyErr_Clear();
      PyErr_Format(PyExc_TypeError, "%s of its type is %R; a capsule named 'dlpack_exchange_api' is needed", name,
                   value);
    }
  }
  Py_DECREF(value);
  return PyErr_Occurred() ? -1 : 1;
}

/* Asks the type itself: 1 with its table, 0 if it has none that we can read, -1 with an exception. */
DLX_INLINE DLX_COLD int dlx_ask_type(PyTypeObject* type, const DLPackExchangeAPI** out) {
  int found = dlx_read_attribute(type, "__dlpack_c_exchange_api__", out);
  if (found == 0) found = dlx_read_attribute(type, "__c_dlpack_exchange_api__", out);
  if (found > 0) found = *out != NULL;
  /* dlpack.h: a consumer that is older than the table follows prev_api to a version that it knows. */
  while (found > 0 && (*out)->header.version.major != DLPACK_MAJOR_VERSION) {
    *out = (const DLPackExchangeAPI*)(*out)->header.prev_api;
    found = *out != NULL;
  }
  /* These two must not be NULL by dlpack.h. Without them there is nothing to be had from the table. */
  if (found > 0 && (*out)->dltensor_from_py_object_no_sync == NULL &&
      (*out)->managed_tensor_from_py_object_no_sync == NULL) {
    found = 0;
  }
  if (found <= 0) *out = NULL;
  return found;
}

DLX_INLINE DLX_COLD int dlx_ask_and_remember(PyTypeObject* type, const DLPackExchangeAPI** out) {
  const dlx_pending old = dlx_set_aside();
  const int found = dlx_ask_type(type, out);
  if (found > 0) {
    dlx_remember(type, PyInterpreterState_Get(), *out);
  } else {
    dlx_forget(type, PyInterpreterState_Get());
  }
  dlx_put_back(old);
  return found;
}

/*
 * The table of a type: 1 with `out` set, 0 if it has none, -1 with an exception. The table lives as long as the
 * process.
 */
DLX_INLINE int dlx_table(PyTypeObject* type, const DLPackExchangeAPI** out) {
  *out = dlx_time_to_look() ? NULL : dlx_remembered(type);
  return *out != NULL ? 1 : dlx_ask_and_remember(type, out);
}

#endif /* DLX_CORE_TABLE_H_ */

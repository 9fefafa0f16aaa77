/*
 * How the kit reports: a Python exception of one line that says which argument, and nothing that was pending is lost.
 *
 * Every function of the kit that can fail holds the GIL, and returns -1 (in C++: false) exactly when an exception is
 * set.
 */
#ifndef DLX_CORE_ERRORS_H_
#define DLX_CORE_ERRORS_H_

#include <stdarg.h>

#include "python.h"

/* The exception that was pending when somebody called us. Python must not be asked anything while it is pending. */
typedef struct dlx_pending {
  PyObject *type, *value, *trace;
} dlx_pending;

DLX_INLINE dlx_pending dlx_set_aside(void) {
  dlx_pending old = {NULL, NULL, NULL};
  PyErr_Fetch(&old.type, &old.value, &old.trace);
  return old;
}

/* The exception that is set, as an object of its type. */
DLX_INLINE dlx_pending dlx_take_exception(void) {
  dlx_pending set = dlx_set_aside();
  PyErr_NormalizeException(&set.type, &set.value, &set.trace);
  return set;
}

DLX_INLINE void dlx_drop(dlx_pending exception) {
  Py_XDECREF(exception.type);
  Py_XDECREF(exception.value);
  Py_XDECREF(exception.trace);
}

/* Puts it back; if there is a new exception, the old one becomes its __context__, as Python itself does it. */
DLX_INLINE void dlx_put_back(dlx_pending old) {
  dlx_pending now;
  if (old.type == NULL) return;
  if (!PyErr_Occurred()) {
    PyErr_Restore(old.type, old.value, old.trace);
    return;
  }
  now = dlx_take_exception();
  PyErr_NormalizeException(&old.type, &old.value, &old.trace);
  if (now.value != NULL && old.value != NULL && now.value != old.value) {
    PyException_SetContext(now.value, old.value); /* takes the reference over */
    old.value = NULL;
  }
  dlx_drop(old);
  PyErr_Restore(now.type, now.value, now.trace);
}

/* Sets an exception, and returns -1 so that a check can end with it. */
DLX_INLINE int dlx_error(PyObject* kind, const char* format, ...) {
  dlx_pending old = dlx_set_aside();
  va_list values;
  va_start(values, format);
  PyErr_FormatV(kind, format, values);
  va_end(values);
  dlx_put_back(old);
  return -1;
}

/* The built-in kinds whose exceptions are made from one text. An error of such a kind keeps it. */
DLX_INLINE PyObject* dlx_kind_of(PyObject* type) {
  PyObject* kinds[] = {PyExc_BufferError,         PyExc_TypeError,   PyExc_ValueError,
                       PyExc_RuntimeError,        PyExc_MemoryError, PyExc_OverflowError,
                       PyExc_NotImplementedError, PyExc_IndexError,  PyExc_AttributeError};
  size_t i;
  for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (type == kinds[i]) return kinds[i];
  }
  return NULL;
}

/* The first line of an object's text; without an exception, whatever its __str__ does. A new reference. */
DLX_INLINE PyObject* dlx_first_line(PyObject* value) {
  PyObject* text = value != NULL ? PyObject_Str(value) : NULL;
  PyObject* lines = text != NULL ? PyUnicode_Splitlines(text, 0) : NULL;
  PyObject* first = lines != NULL && PyList_Size(lines) > 0 ? PyList_GetItem(lines, 0) : NULL;
  Py_XINCREF(first);
  Py_XDECREF(lines);
  Py_XDECREF(text);
  if (first == NULL) PyErr_Clear();
  return first != NULL ? first : PyUnicode_FromString("no reason given");
}

/*
 * Says where the exception that is set came from: "saxpy: argument 2 'x': " and the first line of its text. The
 * exception itself becomes the new one's __cause__. Its kind stays where it is a built-in one, else it is BufferError,
 * as DLPack asks for, with the kind in the text. KeyboardInterrupt and its like pass as they are.
 */
DLX_INLINE int dlx_error_at(PyObject* where) {
  dlx_pending cause, now;
  PyObject *kind, *line, *name;
  if (where == NULL || !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
  cause = dlx_take_exception();
  kind = dlx_kind_of(cause.type);
  line = dlx_first_line(cause.value);
  if (kind != NULL) {
    PyErr_Format(kind, "%U: %U", where, line);
  } else {
    name = dlx_type_name((PyTypeObject*)cause.type);
    PyErr_Format(PyExc_BufferError, "%U: %U: %U", where, name, line);
    Py_XDECREF(name);
  }
  Py_XDECREF(line);
  now = dlx_take_exception();
  if (now.value != NULL && cause.value != NULL) {
    if (cause.trace != NULL) PyException_SetTraceback(cause.value, cause.trace);
    PyException_SetCause(now.value, cause.value); /* takes the reference over */
    cause.value = NULL;
  }
  dlx_drop(cause);
  PyErr_Restore(now.type, now.value, now.trace);
  return -1;
}

#endif /* DLX_CORE_ERRORS_H_ */

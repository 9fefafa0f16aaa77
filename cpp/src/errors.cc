#include "errors.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "python_api.h"

namespace dlx {

bool Error::set(ErrorKind new_kind, const char* format, ...) {
  static constexpr char kPrefix[] = "dlx-torch: ";
  kind = new_kind;
  std::memcpy(text, kPrefix, sizeof(kPrefix));
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text + sizeof(kPrefix) - 1, sizeof(text) - sizeof(kPrefix) + 1, format, arguments);
  va_end(arguments);
  // A device's name or an exception of torch's may bring a line break; the promise is one line.
  if (char* end = std::strchr(text, '\n')) *end = '\0';
  return false;
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kTypeError: return "TypeError";
    case ErrorKind::kBufferError: return "BufferError";
    case ErrorKind::kValueError: return "ValueError";
    case ErrorKind::kMemoryError: return "MemoryError";
    case ErrorKind::kRuntimeError: break;
  }
  return "RuntimeError";
}

namespace {

PyObject* python_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kTypeError: return PyExc_TypeError;
    case ErrorKind::kBufferError: return PyExc_BufferError;
    case ErrorKind::kValueError: return PyExc_ValueError;
    case ErrorKind::kMemoryError: return PyExc_MemoryError;
    case ErrorKind::kRuntimeError: break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

int set_python_error(const Error& error) {
  const int gil = PyGILState_Ensure();
  if (PyErr_Occurred() == nullptr) {
    PyErr_SetString(python_type(error.kind), error.text);
  } else {
    PyObject *type, *value, *traceback, *pending_type, *pending, *pending_traceback;
    PyErr_Fetch(&pending_type, &pending, &pending_traceback);
    PyErr_NormalizeException(&pending_type, &pending, &pending_traceback);
    if (pending_traceback != nullptr) PyException_SetTraceback(pending, pending_traceback);
    PyErr_SetString(python_type(error.kind), error.text);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyException_SetContext(value, pending);  // takes the reference to `pending`
    PyErr_Restore(type, value, traceback);
    Py_DecRef(pending_type);
    Py_DecRef(pending_traceback);
  }
  PyGILState_Release(gil);
  return -1;
}

}  // namespace dlx

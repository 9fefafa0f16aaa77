#include "errors.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "python_api.h"

namespace dlx {

namespace {

// The length of the character at `text`, which ends with a NUL, in UTF-8; 0 if the bytes there are none.
size_t character_length(const unsigned char* text) {
  if (text[0] < 0x80) return 1;
  const size_t length = text[0] >= 0xF0 ? 4 : text[0] >= 0xE0 ? 3 : 2;
  if (text[0] < 0xC2 || text[0] > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((text[i] & 0xC0) != 0x80) return 0;
  }
  // Forms that are longer than needed, surrogates, and numbers beyond Unicode.
  const int second = text[1];
  if ((text[0] == 0xE0 && second < 0xA0) || (text[0] == 0xED && second > 0x9F)) return 0;
  if ((text[0] == 0xF0 && second < 0x90) || (text[0] == 0xF4 && second > 0x8F)) return 0;
  return length;
}

// What Python takes for the end of a line, beside the control characters of ASCII: NEL, and the separators of lines and paragraphs.
bool ends_a_line(const unsigned char* text) {
  return (text[0] == 0xC2 && text[1] == 0x85) ||
         (text[0] == 0xE2 && text[1] == 0x80 && (text[2] == 0xA8 || text[2] == 0xA9));
}

// Makes one line of valid UTF-8 of a text that may hold anything: a device's name, an exception of torch's, or half a character where the
// text was cut. The first line break ends it; what Python could not decode or would break becomes "?".
void make_one_line(char* text) {
  auto* from = reinterpret_cast<unsigned char*>(text);
  unsigned char* to = from;
  while (*from != '\0' && *from != '\n' && *from != '\r') {
    const size_t length = character_length(from);
    if (length == 0 || ends_a_line(from) || *from < 0x20 || *from == 0x7F) {
      *to++ = *from == '\t' ? ' ' : '?';
      from += length == 0 ? 1 : length;
      continue;
    }
    for (size_t i = 0; i < length; ++i) *to++ = *from++;
  }
  *to = '\0';
}

}  // namespace

bool Error::set(ErrorKind new_kind, const char* format, ...) {
  static constexpr char kPrefix[] = "dlx-torch: ";
  kind = new_kind;
  std::memcpy(text, kPrefix, sizeof(kPrefix));
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text + sizeof(kPrefix) - 1, sizeof(text) - sizeof(kPrefix) + 1, format, arguments);
  va_end(arguments);
  make_one_line(text);
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

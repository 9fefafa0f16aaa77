// What the target knows of the process that it runs in: CPython, declared as far as it is used, the table, and this torch.
#ifndef DLX_TESTS_FUZZ_HOST_H_
#define DLX_TESTS_FUZZ_HOST_H_

#include <dlpack/dlpack.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
extern void *PyExc_BufferError, *PyExc_KeyError, *PyExc_MemoryError, *PyExc_RuntimeError, *PyExc_TypeError,
    *PyExc_ValueError;
void* PyErr_Occurred();
void PyErr_SetString(void* type, const char* text);
void PyErr_Fetch(void** type, void** value, void** traceback);
void PyErr_NormalizeException(void** type, void** value, void** traceback);
void* PyObject_Str(void* object);
const char* PyUnicode_AsUTF8(void* text);
void Py_DecRef(void* object);
}

// An object of Python. If it can be exported, where the memory of its storage is, and how many owners that has.
struct Object {
  void* object;
  uintptr_t memory;
  uint64_t bytes;
  const uint32_t* use_count;  // in torch's own object; NULL: it cannot be exported
};

struct Host {
  const DLPackExchangeAPI* table;
  const DLDataType* dtypes;  // those that this torch has
  int32_t dtype_count;
  const Object* objects;
  int32_t object_count;
  int32_t exportable_count;  // the first ones
  int32_t accelerator;       // a DLDeviceType; 0: torch is built for the CPU
  int32_t managed;           // the type of memory that this accelerator shares with the host; 0: none
  int32_t device_count;
};

extern Host g_host;

// Ends the process, after a line that says what was wrong.
#define CHECK(condition, ...)                                         \
  do {                                                                \
    if (!(condition)) {                                               \
      std::fprintf(stderr, "%s:%d: " #condition, __FILE__, __LINE__); \
      std::fprintf(stderr, __VA_ARGS__);                              \
      std::fprintf(stderr, "\n");                                     \
      std::abort();                                                   \
    }                                                                 \
  } while (false)

enum Kind : unsigned { kNone = 0, kBuffer = 1, kValue = 2, kMemory = 4, kRuntime = 8, kType = 16 };

inline Kind kind_of(const char* name) {
  if (std::strcmp(name, "BufferError") == 0) return kBuffer;
  if (std::strcmp(name, "ValueError") == 0) return kValue;
  if (std::strcmp(name, "MemoryError") == 0) return kMemory;
  if (std::strcmp(name, "RuntimeError") == 0) return kRuntime;
  if (std::strcmp(name, "TypeError") == 0) return kType;
  return kNone;
}

inline void check_text(const char* text) {
  CHECK(text != nullptr && std::strncmp(text, "dlx-torch: ", 11) == 0, ": %s", text);
  CHECK(text[11] != '\0' && std::strpbrk(text, "\n\r") == nullptr, ": %s", text);
}

// The kind of the Python exception that is set, which is taken away; kNone if none is set. Its text has to be one line of ours.
inline Kind take_exception() {
  void *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return kNone;
  PyErr_NormalizeException(&type, &value, &traceback);
  Kind kind = kNone;
  if (type == PyExc_BufferError) kind = kBuffer;
  if (type == PyExc_ValueError) kind = kValue;
  if (type == PyExc_MemoryError) kind = kMemory;
  if (type == PyExc_RuntimeError) kind = kRuntime;
  if (type == PyExc_TypeError) kind = kType;
  void* text = PyObject_Str(value);
  check_text(PyUnicode_AsUTF8(text));
  Py_DecRef(text);
  Py_DecRef(type);
  Py_DecRef(value);
  Py_DecRef(traceback);
  return kind;
}

// A call of the table with an exception pending, or without one. Returns the kind of exception that the call itself has set.
template <typename Call>
Kind call_checked(bool pending, int* rc, Call call) {
  if (pending) PyErr_SetString(PyExc_KeyError, "pending before the call");
  *rc = call();
  CHECK(*rc == 0 || *rc == -1, ": %d", *rc);
  if (*rc == 0) {
    CHECK((PyErr_Occurred() == PyExc_KeyError) == pending && (PyErr_Occurred() != nullptr) == pending,
          ": success, and an exception is set or lost");
    void *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_DecRef(type);
    Py_DecRef(value);
    Py_DecRef(traceback);
    return kNone;
  }
  const Kind kind = take_exception();
  CHECK(kind != kNone, ": -1 without an exception of a documented kind");
  return kind;
}

#endif  // DLX_TESTS_FUZZ_HOST_H_

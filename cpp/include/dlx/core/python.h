/*
 * What the rest stands on: CPython's headers and atomics, for C11 and for C++17, with Py_LIMITED_API (3.10 or newer)
 * and without.
 */
#ifndef DLX_CORE_PYTHON_H_
#define DLX_CORE_PYTHON_H_

#include <Python.h>
#include <stdio.h>

#include <dlpack/dlpack.h>

/* The version of these headers, which is not the package's: 100 * major + minor. A new minor version only adds. */
#define DLX_CONSUMER_VERSION 100

#if DLPACK_MAJOR_VERSION != 1 || DLPACK_MINOR_VERSION < 3
#error "dlx/consumer.h needs dlpack/dlpack.h of DLPack 1.3 or a later 1.x, which is beside it: put that folder first"
#endif
#if defined(Py_LIMITED_API) && Py_LIMITED_API + 0 < 0x030A0000
#error "dlx/consumer.h needs Py_LIMITED_API=0x030A0000 (CPython 3.10) or newer: METH_FASTCALL is in it from there on"
#endif

/*
 * Every extension has the kit for itself. Without "hidden" the dynamic linker would merge the variables of two
 * extensions, which may have been built with two versions of these headers.
 */
#if defined(_WIN32)
#define DLX_HIDDEN
#else
#define DLX_HIDDEN __attribute__((visibility("hidden")))
#endif
#ifdef __cplusplus
#define DLX_INLINE inline DLX_HIDDEN
#else
#define DLX_INLINE static inline
#endif
#if defined(__GNUC__)
#define DLX_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define DLX_FAST inline __attribute__((always_inline))
#define DLX_COLD __attribute__((cold))
#else
#define DLX_UNLIKELY(condition) (condition)
#define DLX_FAST inline
#define DLX_COLD
#endif

#ifdef __cplusplus
#include <atomic>
#define DLX_ATOMIC(type) std::atomic<type>
#define DLX_ORDER(name) std::memory_order_##name
#define DLX_FENCE(name) std::atomic_thread_fence(std::memory_order_##name)
#else
#include <stdatomic.h>
#define DLX_ATOMIC(type) _Atomic(type)
#define DLX_ORDER(name) memory_order_##name
#define DLX_FENCE(name) atomic_thread_fence(memory_order_##name)
#endif
#define DLX_LOAD(place, name) atomic_load_explicit(&(place), DLX_ORDER(name))
#define DLX_STORE(place, value, name) atomic_store_explicit(&(place), value, DLX_ORDER(name))

/*
 * A type's name for an error, as a new str; never NULL with an exception set. The limited API of 3.10 has no
 * PyType_GetName.
 */
DLX_INLINE PyObject* dlx_type_name(PyTypeObject* type) {
  PyObject* name = PyObject_GetAttrString((PyObject*)type, "__name__");
  if (name != NULL && PyUnicode_Check(name)) return name;
  Py_XDECREF(name);
  PyErr_Clear();
  return PyUnicode_FromString("an object");
}

/* object.name, or NULL; without an exception if there is no such attribute. A new reference. */
DLX_INLINE PyObject* dlx_attribute(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return value;
}

/* A dtype's name as torch and numpy have it: "float32", and "float32x4" for lanes. */
DLX_INLINE void dlx_dtype_name(DLDataType dtype, char* text, size_t size) {
  static const char* const names[] = {
      "int%d",       "uint%d",          "float%d",        "handle%d",           "bfloat%d",      "complex%d",
      "bool",        "float8_e3m4",     "float8_e4m3",    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
      "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn",      "float6_e3m2fn", "float4_e2m1fn",
      "bcomplex%d"};
  const char* name = dtype.code < sizeof(names) / sizeof(names[0]) ? names[dtype.code] : "dtype(%d bits)";
  const int at = snprintf(text, size, name, dtype.bits);
  if (dtype.lanes != 1) snprintf(text + at, size - (size_t)at, "x%d", dtype.lanes);
}

#endif /* DLX_CORE_PYTHON_H_ */

/*
 * Libraries for tests of the loader. They are compiled without the headers of torch and of Python.
 *
 * With -DFAKE_TORCH the library stands for libtorch_python. Otherwise it has the exports of libdlx_torch_<backend>, and its table
 * calls functions of the Python module "torch", a fake. The macros below set its build info.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef CONSTRUCTOR_WRITES
#include <fcntl.h>
/* Runs as soon as the library is opened: it makes this file. */
__attribute__((constructor)) static void at_loading(void) { open(CONSTRUCTOR_WRITES, O_WRONLY | O_CREAT, 0600); }
#endif

#ifdef FAKE_TORCH

void* THPVariableClass;

#else

#ifndef ABI
#define ABI 1
#endif
#ifndef BACKEND
#define BACKEND "cpu"
#endif
#ifndef MAJOR
#define MAJOR 2
#endif
#ifndef MINOR
#define MINOR 9
#endif
#ifndef CXX11_ABI
#define CXX11_ABI 1
#endif
#ifndef DLPACK_MINOR
#define DLPACK_MINOR 3
#endif

extern void* PyImport_ImportModule(const char*);
extern void* PyObject_CallMethod(void*, const char*, const char*, ...);
extern long PyLong_AsLong(void*);
extern void Py_DecRef(void*);

typedef unsigned long long Address;

/* Calls torch.<name>(object, address). Returns what that returns, or -1 if it raises an exception, which stays set. */
static int call_torch(const char* name, void* object, void* address) {
  void* torch = PyImport_ImportModule("torch");
  void* answer = torch ? PyObject_CallMethod(torch, name, "OK", object, (Address)(uintptr_t)address) : NULL;
  int rc = answer ? (int)PyLong_AsLong(answer) : -1;
  if (answer) Py_DecRef(answer);
  if (torch) Py_DecRef(torch);
  return rc;
}

static int from_tensor(void* object, void* out) { return call_torch("fake_export", object, out); }
static int owning_from_tensor(void* object, void** out) { return call_torch("fake_export_owning", object, out); }

static int to_tensor(void* managed, void** out) {
  void* torch = PyImport_ImportModule("torch");
  *out = torch ? PyObject_CallMethod(torch, "fake_import", "K", (Address)(uintptr_t)managed) : NULL;
  if (torch) Py_DecRef(torch);
  return *out ? 0 : -1;
}

static int allocate(void* prototype, void** out, void* context, void* set_error) {
  (void)prototype, (void)out, (void)context, (void)set_error;
  return -1;
}

static int stream(int device_type, int32_t device_id, void** out) {
  (void)device_type, (void)device_id;
#ifdef CRASH
  *(volatile int*)0 = 0;
#endif
  *out = NULL;
  return 0;
}

static const struct {
  uint32_t major, minor;
  const void* previous;
  int (*allocate)(void*, void**, void*, void*);
  int (*owning_from_tensor)(void*, void**);
  int (*to_tensor)(void*, void**);
  int (*from_tensor)(void*, void*);
  int (*stream)(int, int32_t, void**);
} table = {1, DLPACK_MINOR, NULL, allocate, owning_from_tensor, to_tensor, from_tensor, stream};

static const struct {
  uint32_t struct_size, abi;
  const char *backend, *version;
  uint32_t torch_major, torch_minor, cxx11_abi, dlpack_major, dlpack_minor;
} info = {sizeof(info), ABI, BACKEND, "0.1.0", MAJOR, MINOR, CXX11_ABI, 1, DLPACK_MINOR};

#ifdef NOT_OURS
int something_else(void) { return 0; }
#else
const void* dlx_torch_build_info(void) { return &info; }
#endif

#ifdef BUILT_FOR
const char* dlx_torch_built_for(void) { return BUILT_FOR; }
#endif

const void* dlx_torch_exchange_api(uint32_t pyobject_size) {
#ifdef NO_TABLE
  (void)pyobject_size;
  return NULL;
#else
  return pyobject_size == 0 ? NULL : &table;
#endif
}

const void* dlx_torch_overlay(const void* beneath) { return beneath == NULL ? NULL : &table; }

#ifdef MISSING_SYMBOL
extern int dlx_a_symbol_that_nobody_has(void);
int use_it(void) { return dlx_a_symbol_that_nobody_has(); }
#endif

#endif

/* Calls functions of an exchange table as C code does. The return code comes back apart from the exception that was set. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* The CPython functions used here. They are declared because the tests must compile without Python's headers. */
extern void PyErr_SetString(void* type, const char* text);
extern void* PyErr_Occurred(void);
extern void PyErr_Clear(void);
extern void* PyExc_KeyError;
extern void* PyEval_GetFrame(void);
extern int PyTraceBack_Here(void* frame);

typedef int (*two_fn)(void*, void*);
typedef int (*stream_fn)(int32_t, int32_t, void**);
typedef void (*set_error_fn)(void*, const char*, const char*);
typedef int (*allocate_fn)(void*, void**, void*, set_error_fn);

/* The first fields of DLManagedTensorVersioned, which no version changes. */
typedef struct managed {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct managed*);
} managed;

/* An exception as Python code leaves it: with a traceback. */
static void set_pending(int pending) {
  if (!pending) return;
  PyErr_SetString(PyExc_KeyError, "pending before the call");
  PyTraceBack_Here(PyEval_GetFrame());
}

/* If an exception is set, it stays: ctypes raises it when this function returns. */
void probe_two(two_fn fn, void* a, void* b, int pending, int* rc) {
  set_pending(pending);
  *rc = fn(a, b);
}

/* PyMemAllocatorEx, and the domain of CPython's objects. */
typedef struct {
  void* context;
  void* (*malloc)(void*, size_t);
  void* (*calloc)(void*, size_t, size_t);
  void* (*realloc)(void*, void*, size_t);
  void (*free)(void*, void*);
} allocator;
enum { OBJECTS = 2 };
extern void PyMem_GetAllocator(int domain, allocator* out);
extern void PyMem_SetAllocator(int domain, allocator* in);

static void* no_malloc(void* context, size_t size) { return NULL; }
static void* no_calloc(void* context, size_t count, size_t size) { return NULL; }
static void* no_realloc(void* context, void* old, size_t size) { return NULL; }

/* The same while CPython has no memory for new objects. */
void probe_two_without_memory(two_fn fn, void* a, void* b, int* rc) {
  allocator usual, none;
  PyMem_GetAllocator(OBJECTS, &usual);
  none = usual;
  none.malloc = no_malloc;
  none.calloc = no_calloc;
  none.realloc = no_realloc;
  PyMem_SetAllocator(OBJECTS, &none);
  *rc = fn(a, b);
  PyMem_SetAllocator(OBJECTS, &usual);
}

void probe_stream(stream_fn fn, int32_t type, int32_t index, void** out, int pending, int* rc) {
  set_pending(pending);
  *rc = fn(type, index, out);
}

void probe_allocate(allocate_fn fn, void* prototype, void** out, int* rc) {
  set_pending(1);
  *rc = fn(prototype, out, NULL, NULL);
}

static void delete_tensor(managed* tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}

int probe_nothing(void* a, void* b) {
  (void)a;
  (void)b;
  return 0;
}

/* Each makes many calls and returns how many of them failed. Results are deleted and exceptions cleared. */
int probe_repeat_dltensor(two_fn fn, void* object, void* out, int times) {
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    if (fn(object, out) != 0) {
      ++failed;
      PyErr_Clear();
    }
  }
  return failed;
}

int probe_repeat_export(two_fn fn, void* object, int times) {
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    void* out = NULL;
    if (fn(object, &out) != 0) {
      ++failed;
      PyErr_Clear();
    } else {
      delete_tensor((managed*)out);
    }
  }
  return failed;
}

int probe_repeat_import(two_fn export_fn, two_fn import_fn, void* object, int times, void (*decref)(void*)) {
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    void *tensor = NULL, *made = NULL;
    if (export_fn(object, &tensor) != 0) {
      ++failed;
      PyErr_Clear();
      continue;
    }
    if (import_fn(tensor, &made) != 0) {
      ++failed;
      PyErr_Clear();
      delete_tensor((managed*)tensor);
      continue;
    }
    decref(made);
  }
  return failed;
}

int probe_repeat_refused_import(two_fn import_fn, void* tensor, int times) {
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    void* made = NULL;
    if (import_fn(tensor, &made) != 0) {
      ++failed;
      PyErr_Clear();
    }
  }
  return failed;
}

int probe_repeat_allocate(allocate_fn fn, void* prototype, int times) {
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    void* out = NULL;
    if (fn(prototype, &out, NULL, NULL) != 0)
      ++failed;
    else
      delete_tensor((managed*)out);
  }
  return failed;
}

int probe_repeat_stream(stream_fn fn, int32_t type, int32_t index, int times) {
  int failed = 0;
  for (int i = 0; i < times; ++i) {
    void* out = NULL;
    if (fn(type, index, &out) != 0) {
      ++failed;
      PyErr_Clear();
    }
  }
  return failed;
}

/* On a thread that Python does not know: it has no thread state and no GIL. */
static void* delete_on_thread(void* tensor) {
  delete_tensor((managed*)tensor);
  return NULL;
}

int probe_delete_on_new_thread(managed* tensor) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, delete_on_thread, tensor) != 0) return -1;
  return pthread_join(thread, NULL);
}

typedef struct {
  allocate_fn fn;
  void* prototype;
  void** out;
  int rc;
} allocation;

static void* allocate_on_thread(void* argument) {
  allocation* job = (allocation*)argument;
  job->rc = job->fn(job->prototype, job->out, NULL, NULL);
  return NULL;
}

int probe_allocate_on_new_thread(allocate_fn fn, void* prototype, void** out) {
  allocation job = {fn, prototype, out, -2};
  pthread_t thread;
  if (pthread_create(&thread, NULL, allocate_on_thread, &job) != 0) return -2;
  pthread_join(thread, NULL);
  return job.rc;
}

/* Tensors to delete when the process unloads this library, after the interpreter has ended. */
static managed* kept[16];
static int kept_count = 0;

int probe_delete_at_exit(managed* tensor) {
  if (kept_count == 16) return -1;
  kept[kept_count++] = tensor;
  return 0;
}

__attribute__((destructor)) static void delete_kept(void) {
  for (int i = 0; i < kept_count; ++i) delete_tensor(kept[i]);
}

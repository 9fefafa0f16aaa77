/* Calls a function of the exchange table the way C code does, and tells its return code apart from the exception it set. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* The few CPython functions used, declared here so that no Python headers are needed. */
extern void PyErr_SetString(void* type, const char* text);
extern void* PyErr_Occurred(void);
extern void PyErr_Clear(void);
extern void* PyExc_KeyError;

typedef int (*two_fn)(void*, void*);
typedef int (*stream_fn)(int32_t, int32_t, void**);
typedef void (*set_error_fn)(void*, const char*, const char*);
typedef int (*allocate_fn)(void*, void**, void*, set_error_fn);

/* The stable start of DLManagedTensorVersioned. */
typedef struct managed {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct managed*);
} managed;

static void pend(int pending) {
  if (pending) PyErr_SetString(PyExc_KeyError, "pending before the call");
}

/* The exception, if any, stays set: ctypes raises it when this function returns. */
void probe_two(two_fn fn, void* a, void* b, int pending, int* rc) {
  pend(pending);
  *rc = fn(a, b);
}

void probe_stream(stream_fn fn, int32_t type, int32_t index, void** out, int pending, int* rc) {
  pend(pending);
  *rc = fn(type, index, out);
}

void probe_allocate(allocate_fn fn, void* prototype, void** out, int* rc) {
  pend(1);
  *rc = fn(prototype, out, NULL, NULL);
}

void probe_delete(managed* tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}

/* Many calls in a row; answers how many of them failed. What succeeded is deleted, exceptions are dropped. */
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
      probe_delete((managed*)out);
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
      probe_delete((managed*)tensor);
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
      probe_delete((managed*)out);
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

/* On a thread that Python has never seen: no thread state, no GIL. */
static void* delete_there(void* tensor) {
  probe_delete((managed*)tensor);
  return NULL;
}

int probe_delete_on_new_thread(managed* tensor) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, delete_there, tensor) != 0) return -1;
  return pthread_join(thread, NULL);
}

typedef struct {
  allocate_fn fn;
  void* prototype;
  void** out;
  int rc;
} allocation;

static void* allocate_there(void* argument) {
  allocation* job = (allocation*)argument;
  job->rc = job->fn(job->prototype, job->out, NULL, NULL);
  return NULL;
}

int probe_allocate_on_new_thread(allocate_fn fn, void* prototype, void** out) {
  allocation job = {fn, prototype, out, -2};
  pthread_t thread;
  if (pthread_create(&thread, NULL, allocate_there, &job) != 0) return -2;
  pthread_join(thread, NULL);
  return job.rc;
}

/* Deleted when the process unloads this library: after the interpreter is gone. */
static managed* kept[16];
static int kept_count = 0;

int probe_delete_at_exit(managed* tensor) {
  if (kept_count == 16) return -1;
  kept[kept_count++] = tensor;
  return 0;
}

__attribute__((destructor)) static void delete_kept(void) {
  for (int i = 0; i < kept_count; ++i) probe_delete(kept[i]);
}

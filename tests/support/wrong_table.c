/* A library that stands before one of ours, DLX_TEST_RIGHT_LIBRARY, and makes one fault, DLX_TEST_FAULT. It looks up the
 * vendor's functions in DLX_TEST_RUNTIME, a library that the process has loaded. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void PyErr_Clear(void);

enum { DEVICES = 16, CPU = 1, EXT_DEV = 12 };

typedef struct {
  char* data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} tensor;

typedef struct managed {
  uint32_t major, minor;
  void* context;
  void (*deleter)(struct managed*);
  uint64_t flags;
  tensor described;
} managed;

typedef void set_error(void*, const char*, const char*);

typedef struct {
  uint32_t major, minor;
  const void* previous;
  int (*allocate)(const tensor*, managed**, void*, set_error*);
  int (*export_managed)(void*, managed**);
  int (*import)(managed*, void**);
  int (*export)(void*, tensor*);
  int (*stream)(int, int32_t, void**);
} table;

static table right, wrong;
static pid_t loaded_by;

static int fault(const char* name) {
  const char* asked = getenv("DLX_TEST_FAULT");
  return asked && strcmp(asked, name) == 0;
}

static void* runtime(const char* cuda, const char* hip, const char* cann) {
  void* library = dlopen(getenv("DLX_TEST_RUNTIME"), RTLD_NOW | RTLD_NOLOAD);
  for (const char** name = (const char*[]){cuda, hip, cann, NULL}; library && *name; ++name)
    if (dlsym(library, *name)) return dlsym(library, *name);
  abort();
}

static int current_device(void) {
  int device = 0;
  ((int (*)(int*))runtime("cudaGetDevice", "hipGetDevice", "aclrtGetDevice"))(&device);
  return device;
}

/* One that nothing else uses, of the current device. */
static void* own_stream(void) {
  void* stream = NULL;
  ((int (*)(void**))runtime("cudaStreamCreate", "hipStreamCreate", "aclrtCreateStream"))(&stream);
  return stream;
}

static int stream(int device_type, int32_t device_id, void** out) {
  static void* own[DEVICES];
  static void* of_first_thread[DEVICES];
  static pid_t first_thread;
  if (device_type == CPU || device_id < 0 || device_id >= DEVICES) return right.stream(device_type, device_id, out);
  if (fault("crash")) abort();
  if (fault("hang"))
    for (;;) pause();
  if (fault("nothing")) return 0;
  if (fault("silent failure")) return -1;
  if (fault("another device")) return right.stream(device_type, 1 - device_id, out);
  if (fault("current device")) return right.stream(device_type, current_device(), out);
  if (fault("forked") && getpid() != loaded_by) return *out = NULL, 0;
  int rc = right.stream(device_type, device_id, out);
  if (rc == 0 && fault("NULL")) *out = NULL;
  if (rc == 0 && fault("not ordered")) *out = own[device_id] = own[device_id] ? own[device_id] : own_stream();
  if (rc == 0 && fault("first thread")) {
    if (!first_thread) first_thread = gettid();
    if (gettid() == first_thread)
      of_first_thread[device_id] = *out;
    else
      *out = of_first_thread[device_id];
  }
  return rc;
}

static int allocate(const tensor* prototype, managed** out, void* context, set_error* say) {
  static managed* made_before[DEVICES]; /* outside of the pool that may be in use now */
  tensor changed = *prototype;
  if (fault("no allocation")) return say(context, "MemoryError", "no"), -1;
  if (fault("first device")) changed.device_id = 0;
  if (!fault("outside")) return right.allocate(&changed, out, context, say);
  managed** before = &made_before[prototype->device_id];
  if (!*before && right.allocate(prototype, before, context, say)) return -1;
  *out = *before;
  return right.allocate(prototype, before, context, say);
}

static void ignore(void* context, const char* kind, const char* text) { (void)context, (void)kind, (void)text; }

static int import(managed* block, void** out) {
  const tensor* described = &block->described;
  if (described->device_type == CPU) return right.import(block, out);
  if (fault("strides") && described->ndim == 2) described->strides[0] = 0;
  if (fault("copy") && right.allocate(described, &block, NULL, &ignore)) return -1;
  if (fault("wrong data")) ++*described->data; /* simulated devices have the host's memory */
  return right.import(block, out);
}

static int export_managed(void* object, managed** out) {
  int rc = right.export_managed(object, out);
  if (rc != 0 && fault("private format")) { /* as if it had no special layout: any memory of that size will do */
    int64_t size = 32 * 32 * 2;
    const tensor plain = {NULL, EXT_DEV, 0, 1, 1, 8, 1, &size, NULL, 0};
    PyErr_Clear();
    return right.allocate(&plain, out, NULL, &ignore);
  }
  if (rc == 0 && (*out)->described.device_type != CPU && fault("export")) (*out)->described.device_id ^= 1;
  return rc;
}

const void* dlx_torch_build_info(void) {
  void* library = dlopen(getenv("DLX_TEST_RIGHT_LIBRARY"), RTLD_NOW);
  return library ? ((const void* (*)(void))dlsym(library, "dlx_torch_build_info"))() : NULL;
}

static const void* around(const table* of) {
  if (!of) return NULL;
  loaded_by = getpid();
  right = wrong = *of;
  wrong.stream = stream, wrong.allocate = allocate, wrong.import = import, wrong.export_managed = export_managed;
  return &wrong;
}

const void* dlx_torch_exchange_api(uint32_t pyobject_size) {
  void* library = dlopen(getenv("DLX_TEST_RIGHT_LIBRARY"), RTLD_NOW);
  return around(((const table* (*)(uint32_t))dlsym(library, "dlx_torch_exchange_api"))(pyobject_size));
}

const void* dlx_torch_overlay(const void* beneath) {
  void* library = dlopen(getenv("DLX_TEST_RIGHT_LIBRARY"), RTLD_NOW);
  return around(((const table* (*)(const void*))dlsym(library, "dlx_torch_overlay"))(beneath));
}

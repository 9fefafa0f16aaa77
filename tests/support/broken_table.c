/* A table with one fault: each function below calls that of a right table, and does one thing wrong if it is told to. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The CPython functions used here. They are declared because the tests must compile without Python's headers. */
extern void PyErr_SetString(void* type, const char* text);
extern void PyErr_Clear(void);
extern void* PyExc_RuntimeError;
extern void* PyList_New(ptrdiff_t size);
extern void Py_IncRef(void* object);
extern void Py_DecRef(void* object);

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

typedef struct {
  uint32_t major, minor;
  const void* previous;
  void* allocate;
  int (*export_managed)(void*, managed**);
  int (*import)(managed*, void**);
  int (*export)(void*, tensor*);
  int (*stream)(int, int32_t, void**);
} table;

static table right, wrong;
static char place[32], fault[32];

static int is(const char* where, const char* what) { return strcmp(place, where) == 0 && strcmp(fault, what) == 0; }

/* Whether the function does nothing but return `rc`. */
static int returns(const char* where, int* rc) {
  if (is(where, "silent failure")) return *rc = -1, 1;
  if (is(where, "silent 1")) return *rc = 1, 1;
  if (is(where, "nothing")) return *rc = 0, 1;
  if (is(where, "exception")) return PyErr_SetString(PyExc_RuntimeError, "no"), *rc = -1, 1;
  if (is(where, "exception and 0")) return PyErr_SetString(PyExc_RuntimeError, "no"), *rc = 0, 1;
  return 0;
}

/* An array of its own, as the other one belongs to the tensor. */
static int64_t* one_more_in_second(const int64_t* numbers) {
  int64_t* copy = malloc(2 * sizeof *copy);
  copy[0] = numbers[0], copy[1] = numbers[1] + 1;
  return copy;
}

static void describe(const char* where, tensor* out) {
  if (is(where, "data")) out->data += 4;
  if (is(where, "no data")) out->data = NULL;
  if (is(where, "byte_offset")) out->byte_offset += 4;
  if (is(where, "device type")) out->device_type = 2;
  if (is(where, "device index")) out->device_id = 1;
  if (is(where, "code")) out->code = 0;
  if (is(where, "unknown code")) out->code = 99;
  if (is(where, "bits")) out->bits = 64;
  if (is(where, "lanes")) out->lanes = 0;
  if (is(where, "ndim")) out->ndim = 1;
  if (is(where, "negative ndim")) out->ndim = -1;
  if (is(where, "huge ndim")) out->ndim = 512;
  if (is(where, "shape")) out->shape = one_more_in_second(out->shape);
  if (is(where, "no shape")) out->shape = NULL;
  if (is(where, "strides")) out->strides = one_more_in_second(out->strides);
  if (is(where, "no strides")) out->strides = NULL;
}

static void count(const char* where, void* object) {
  if (is(where, "leak")) Py_IncRef(object);
  if (is(where, "dropped reference")) Py_DecRef(object);
}

static int export(void* object, tensor* out) {
  int rc;
  if (returns("export", &rc)) return rc;
  rc = right.export(object, out);
  if (rc != 0 && strcmp(place, "refusal") == 0) return PyErr_Clear(), returns("refusal", &rc), rc;
  if (rc == 0) describe("export", out), count("export", object);
  return rc;
}

static void (*right_deleter)(managed*);
static void* exported_object;

static void delete_nothing(managed* block) { (void)block; }

static void delete_and_drop(managed* block) { right_deleter(block), Py_DecRef(exported_object); }

static void delete_and_raise(managed* block) { right_deleter(block), PyErr_SetString(PyExc_RuntimeError, "no"); }

/* What is exported owns nothing, because the right block is deleted here. */
static managed* empty_shell(managed* block) {
  managed* shell = malloc(sizeof *shell);
  *shell = *block;
  shell->described.shape = one_more_in_second(block->described.shape), --shell->described.shape[1];
  shell->described.strides = one_more_in_second(block->described.strides), --shell->described.strides[1];
  shell->deleter = delete_nothing;
  block->deleter(block);
  return shell;
}

static int export_managed(void* object, managed** out) {
  int rc;
  if (returns("export_managed", &rc)) return rc;
  rc = right.export_managed(object, out);
  if (rc != 0) return rc;
  describe("export_managed", &(*out)->described), count("export_managed", object);
  exported_object = object, right_deleter = (*out)->deleter;
  if (is("export_managed", "version")) (*out)->major = 2;
  if (is("export_managed", "no deleter")) (*out)->deleter = NULL;
  if (is("export_managed", "deleter does nothing")) (*out)->deleter = delete_nothing;
  if (is("export_managed", "deleter drops tensor")) (*out)->deleter = delete_and_drop;
  if (is("export_managed", "deleter raises")) (*out)->deleter = delete_and_raise;
  if (is("export_managed", "owns nothing")) *out = empty_shell(*out);
  return 0;
}

/* Deleters in place of that of an imported block. */
static void (*callers_deleter)(managed*);
static void (*late_deleter)(managed*);
static managed* late;

static void call_twice(managed* block) { callers_deleter(block), callers_deleter(block); }

static void call_with_wrong_address(managed* block) { callers_deleter((managed*)((char*)block + 8)); }

static void call_for_the_last(managed* block) {
  if (late) late_deleter(late);
  late = block, late_deleter = callers_deleter;
}

static int import(managed* block, void** out) {
  int rc;
  if (returns("import", &rc)) return rc;
  describe("import", &block->described);
  if (is("import", "copy")) block->described.data = memcpy(malloc(68), block->described.data, 68); /* of a 2x3 tensor */
  callers_deleter = block->deleter;
  if (is("import", "deleter runs twice")) block->deleter = call_twice;
  if (is("import", "deleter gets wrong address")) block->deleter = call_with_wrong_address;
  if (is("import", "deleter runs late")) block->deleter = call_for_the_last;
  if (is("import", "deleter never runs")) block->deleter = delete_nothing;
  if (is("import", "deleter runs at once")) block->deleter = delete_nothing, callers_deleter(block);
  rc = right.import(block, out);
  if (rc == 0) count("import", *out);
  if (is("import", "another type")) *out = PyList_New(0);
  return rc;
}

static int stream(int device_type, int32_t device_id, void** out) {
  int rc;
  if (returns("stream", &rc)) return rc;
  rc = right.stream(device_type, device_id, out);
  if (is("stream", "a stream")) *out = out;
  return rc;
}

/* A right table for "" and "". There is one table at a time. */
const void* broken_table(const table* of, const char* where, const char* what) {
  right = wrong = *of;
  late = NULL;
  strncpy(place, where, sizeof place - 1), strncpy(fault, what, sizeof fault - 1);
  wrong.export = is("export", "missing") ? NULL : export;
  wrong.export_managed = is("export_managed", "missing") ? NULL : export_managed;
  wrong.import = is("import", "missing") ? NULL : import;
  wrong.stream = is("stream", "missing") ? NULL : stream;
  if (is("allocate", "missing")) wrong.allocate = NULL;
  if (is("table", "version")) wrong.major = 2;
  return &wrong;
}

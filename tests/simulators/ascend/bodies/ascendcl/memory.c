/* libascendcl, memory and copies. */
#include "memory.h"
#include "acl.h"
#include "queue.h"

#include <string.h>

static int allocate(void** out, size_t size, int kind) {
  *out = NULL;
  if (!dlx_sim_device_count()) return NO_DEVICE;
  return dlx_sim_allocate(out, size, kind, dlx_sim_device) ? OUT_OF_MEMORY : SUCCESS;
}

static int release(void* memory, int host) { return dlx_sim_release(memory, host) ? PARAM_INVALID : SUCCESS; }

int aclrtMalloc(void** out, size_t size, int policy) {
  NOTE();
  (void)policy;
  return allocate(out, size, DLX_SIM_DEVICE);
}

int aclrtMallocAlign32(void** out, size_t size, int policy) {
  NOTE();
  (void)policy;
  return allocate(out, size, DLX_SIM_DEVICE);
}

int aclrtMallocHost(void** out, size_t size) {
  NOTE();
  return allocate(out, size, DLX_SIM_HOST);
}

int aclrtFree(void* memory) {
  NOTE();
  return release(memory, 0);
}

int aclrtFreeHost(void* memory) {
  NOTE();
  return release(memory, 1);
}

int aclrtGetMemInfo(int kind, size_t* unused, size_t* total) {
  NOTE();
  (void)kind;
  *total = DLX_SIM_TOTAL_MEMORY;
  *unused = DLX_SIM_TOTAL_MEMORY - dlx_sim_used(dlx_sim_device);
  return SUCCESS;
}

struct pointer_attributes { /* aclrtPtrAttributes */
  uint32_t device;
  int kind; /* 0: host, 1: device, 2: unregistered */
  uint32_t page_size, reserved[4];
};

int aclrtPointerGetAttributes(const void* pointer, struct pointer_attributes* out) {
  NOTE();
  int device = 0, kind = dlx_sim_find(pointer, &device);
  memset(out, 0, sizeof *out);
  out->device = (uint32_t)device;
  out->kind = kind == DLX_SIM_HOST ? 0 : kind == DLX_SIM_DEVICE ? 1 : 2;
  return SUCCESS;
}

/* ---- copies ---- */

/* Work of a stream, unless it is about memory that CANN knows nothing of: then the caller waits for it. */
static int copy(struct queue* queue, void* to, size_t room, const void* from, size_t size) {
  int device;
  if (size > room) return PARAM_INVALID;
  int known = dlx_sim_find(to, &device) && dlx_sim_find(from, &device);
  dlx_sim_copy(queue, to, from, size);
  if (!known) dlx_sim_drain(queue);
  return SUCCESS;
}

int aclrtMemcpy(void* to, size_t room, const void* from, size_t size, int kind) {
  NOTE();
  (void)kind;
  if (size > room) return PARAM_INVALID;
  if (size) memmove(to, from, size); /* at once: it is ordered with no stream */
  return SUCCESS;
}

int aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t size, int kind, void* stream) {
  WORK();
  (void)kind;
  return copy(dlx_sim_queue_of(stream), to, room, from, size);
}

int aclrtMemset(void* to, size_t room, int32_t value, size_t size) {
  NOTE();
  if (size > room) return PARAM_INVALID;
  memset(to, value, size);
  return SUCCESS;
}

int aclrtMemsetAsync(void* to, size_t room, int32_t value, size_t size, void* stream) {
  WORK();
  if (size > room) return PARAM_INVALID;
  dlx_sim_fill(dlx_sim_queue_of(stream), to, value, size);
  return SUCCESS;
}

/* libcudart, memory and copies. */
#include "memory.h"
#include "cudart.h"
#include "queue.h"

#include <string.h>

static int allocate(void** out, size_t size, int kind) {
  *out = NULL;
  if (!dlx_sim_device_count()) return done(NO_DEVICE);
  return done(dlx_sim_allocate(out, size, kind, dlx_sim_device) ? OUT_OF_MEMORY : SUCCESS);
}

static int release(void* memory, int host) { return done(dlx_sim_release(memory, host) ? INVALID_VALUE : SUCCESS); }

int cudaMalloc(void** out, size_t size) {
  NOTE();
  return allocate(out, size, DLX_SIM_DEVICE);
}

int cudaMallocAsync(void** out, size_t size, void* stream) {
  NOTE();
  (void)stream;
  return allocate(out, size, DLX_SIM_DEVICE);
}

int cudaMallocManaged(void** out, size_t size, unsigned flags) {
  NOTE();
  (void)flags;
  return allocate(out, size, DLX_SIM_MANAGED);
}

int cudaHostAlloc(void** out, size_t size, unsigned flags) {
  NOTE();
  (void)flags;
  return allocate(out, size, DLX_SIM_HOST);
}

int cudaMallocHost(void** out, size_t size) {
  NOTE();
  return allocate(out, size, DLX_SIM_HOST);
}

int cudaFree(void* memory) {
  NOTE();
  return release(memory, 0);
}

int cudaFreeAsync(void* memory, void* stream) {
  NOTE();
  (void)stream;
  return release(memory, 0);
}

int cudaFreeHost(void* memory) {
  NOTE();
  return release(memory, 1);
}

int cudaHostRegister(void* memory, size_t size, unsigned flags) {
  NOTE();
  (void)flags;
  return done(dlx_sim_adopt(memory, size, DLX_SIM_HOST, dlx_sim_device) ? OUT_OF_MEMORY : SUCCESS);
}

int cudaHostUnregister(void* memory) {
  NOTE();
  return release(memory, 1);
}

int cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  NOTE();
  (void)flags;
  *device = host;
  return SUCCESS;
}

int cudaMemGetInfo(size_t* unused, size_t* total) {
  NOTE();
  *total = DLX_SIM_TOTAL_MEMORY;
  *unused = DLX_SIM_TOTAL_MEMORY - dlx_sim_used(dlx_sim_device);
  return SUCCESS;
}

struct pointer_attributes {
  int type, device; /* cudaMemoryType has the numbers of memory.h */
  void *device_pointer, *host_pointer;
#if DLX_SIM_CUDA_VERSION >= 13000
  long reserved[8];
#endif
};

int cudaPointerGetAttributes(struct pointer_attributes* out, const void* pointer) {
  NOTE();
  memset(out, 0, sizeof *out);
  out->device = -2; /* memory that CUDA knows nothing of */
  out->type = dlx_sim_find(pointer, &out->device);
  out->device_pointer = out->type ? (void*)pointer : NULL;
  out->host_pointer = out->type == DLX_SIM_DEVICE ? NULL : (void*)pointer;
  return SUCCESS;
}

/* ---- copies ---- */

/* Work of a stream, unless it is about memory that CUDA knows nothing of: then the caller waits for it. */
static int copy(struct queue* queue, void* to, const void* from, size_t size) {
  int device;
  int known = dlx_sim_find(to, &device) && dlx_sim_find(from, &device);
  dlx_sim_copy(queue, to, from, size);
  if (!known) dlx_sim_drain(queue);
  return SUCCESS;
}

int cudaMemcpy(void* to, const void* from, size_t size, int kind) {
  NOTE();
  (void)kind;
  copy(dlx_sim_queue_of(NULL), to, from, size);
  dlx_sim_drain(dlx_sim_queue_of(NULL));
  return SUCCESS;
}

int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream) {
  NOTE();
  (void)kind;
  return copy(dlx_sim_queue_of(stream), to, from, size);
}

int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size, void* stream) {
  NOTE();
  (void)to_device, (void)from_device;
  return copy(dlx_sim_queue_of(stream), to, from, size);
}

int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                      int kind, void* stream) {
  NOTE();
  (void)kind;
  for (size_t row = 0; row < height; ++row)
    copy(dlx_sim_queue_of(stream), (char*)to + row * to_pitch, (const char*)from + row * from_pitch, width);
  return SUCCESS;
}

int cudaMemset(void* to, int value, size_t size) {
  NOTE();
  dlx_sim_fill(dlx_sim_queue_of(NULL), to, value, size);
  return SUCCESS;
}

int cudaMemsetAsync(void* to, int value, size_t size, void* stream) {
  NOTE();
  dlx_sim_fill(dlx_sim_queue_of(stream), to, value, size);
  return SUCCESS;
}

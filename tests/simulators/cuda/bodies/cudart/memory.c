/* libcudart, memory: the host's, so copies are right. A list of blocks tells pointers apart and makes a wrong free an error. */
#include "cudart.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { HOST = 1, DEVICE = 2, MANAGED = 3 }; /* cudaMemoryType */

struct block {
  struct block* next;
  char* base;
  size_t size;
  int type, device, ours;
};

static struct block* blocks;
static size_t used[DLX_SIM_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int add(void* memory, size_t size, int type, int ours) {
  struct block* block = malloc(sizeof *block);
  if (!block) return done(OUT_OF_MEMORY);
  *block = (struct block){NULL, memory, size, type, dlx_sim_device, ours};
  dlx_sim_activate(dlx_sim_device);
  pthread_mutex_lock(&lock);
  block->next = blocks;
  blocks = block;
  if (type == DEVICE) used[block->device] += size;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

static int allocate(void** out, size_t size, int type) {
  *out = NULL;
  if (!dlx_sim_device_count()) return done(NO_DEVICE);
  if (!size) return SUCCESS;
  pthread_mutex_lock(&lock);
  int fits = size <= TOTAL_MEMORY - used[dlx_sim_device];
  pthread_mutex_unlock(&lock);
  if (!fits || posix_memalign(out, 512, size)) return done(OUT_OF_MEMORY);
  return add(*out, size, type, 1);
}

static int release(void* memory, int host) {
  if (!memory) return SUCCESS;
  pthread_mutex_lock(&lock);
  struct block** link = &blocks;
  while (*link && ((*link)->base != memory || ((*link)->type == HOST) != host)) link = &(*link)->next;
  struct block* block = *link;
  if (block) {
    *link = block->next;
    if (block->type == DEVICE) used[block->device] -= block->size;
  }
  pthread_mutex_unlock(&lock);
  if (!block) return done(INVALID_VALUE);
  if (block->ours) free(block->base);
  free(block);
  return SUCCESS;
}

int cudaMalloc(void** out, size_t size) {
  NOTE();
  return allocate(out, size, DEVICE);
}

int cudaMallocAsync(void** out, size_t size, void* stream) {
  NOTE();
  (void)stream;
  return allocate(out, size, DEVICE);
}

int cudaMallocManaged(void** out, size_t size, unsigned flags) {
  NOTE();
  (void)flags;
  return allocate(out, size, MANAGED);
}

int cudaHostAlloc(void** out, size_t size, unsigned flags) {
  NOTE();
  (void)flags;
  return allocate(out, size, HOST);
}

int cudaMallocHost(void** out, size_t size) {
  NOTE();
  return allocate(out, size, HOST);
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
  return add(memory, size, HOST, 0);
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
  pthread_mutex_lock(&lock);
  *total = TOTAL_MEMORY;
  *unused = TOTAL_MEMORY - used[dlx_sim_device];
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

struct pointer_attributes {
  int type, device;
  void *device_pointer, *host_pointer;
#if DLX_SIM_CUDA_VERSION >= 13000
  long reserved[8];
#endif
};

int cudaPointerGetAttributes(struct pointer_attributes* out, const void* pointer) {
  NOTE();
  memset(out, 0, sizeof *out);
  out->device = -2; /* memory that CUDA knows nothing of */
  out->host_pointer = (void*)pointer;
  pthread_mutex_lock(&lock);
  for (struct block* block = blocks; block; block = block->next) {
    if ((size_t)((const char*)pointer - block->base) >= block->size) continue;
    out->type = block->type;
    out->device = block->device;
    out->device_pointer = (void*)pointer;
    if (block->type == DEVICE) out->host_pointer = NULL;
    break;
  }
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

/* ---- copies ---- */

static int copy(void* to, const void* from, size_t size) {
  if (size) memmove(to, from, size);
  return SUCCESS;
}

int cudaMemcpy(void* to, const void* from, size_t size, int kind) {
  NOTE();
  (void)kind;
  return copy(to, from, size);
}

int cudaMemcpyAsync(void* to, const void* from, size_t size, int kind, void* stream) {
  NOTE();
  (void)kind, (void)stream;
  return copy(to, from, size);
}

int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size, void* stream) {
  NOTE();
  (void)to_device, (void)from_device, (void)stream;
  return copy(to, from, size);
}

int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                      int kind, void* stream) {
  NOTE();
  (void)kind, (void)stream;
  for (size_t row = 0; row < height; ++row)
    copy((char*)to + row * to_pitch, (const char*)from + row * from_pitch, width);
  return SUCCESS;
}

int cudaMemset(void* to, int value, size_t size) {
  NOTE();
  if (size) memset(to, value, size);
  return SUCCESS;
}

int cudaMemsetAsync(void* to, int value, size_t size, void* stream) {
  NOTE();
  (void)stream;
  if (size) memset(to, value, size);
  return SUCCESS;
}

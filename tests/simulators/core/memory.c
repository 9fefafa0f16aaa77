/* The list of blocks behind memory.h. */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

struct block {
  struct block* next;
  char* base;
  size_t size;
  int kind, device, ours;
};

static struct block* blocks;
static size_t used[DLX_SIM_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int add(void* memory, size_t size, int kind, int device, int ours) {
  struct block* block = malloc(sizeof *block);
  if (!block) return -1;
  *block = (struct block){NULL, memory, size, kind, device, ours};
  dlx_sim_activate(device);
  pthread_mutex_lock(&lock);
  block->next = blocks;
  blocks = block;
  if (kind == DLX_SIM_DEVICE) used[device] += size;
  pthread_mutex_unlock(&lock);
  return 0;
}

int dlx_sim_allocate(void** out, size_t size, int kind, int device) {
  *out = NULL;
  if (!size) return 0;
  if (size > DLX_SIM_TOTAL_MEMORY - dlx_sim_used(device) || posix_memalign(out, 512, size)) return -1;
  return add(*out, size, kind, device, 1);
}

int dlx_sim_adopt(void* memory, size_t size, int kind, int device) { return add(memory, size, kind, device, 0); }

int dlx_sim_release(void* memory, int host) {
  if (!memory) return 0;
  pthread_mutex_lock(&lock);
  struct block** link = &blocks;
  while (*link && ((*link)->base != memory || ((*link)->kind == DLX_SIM_HOST) != host)) link = &(*link)->next;
  struct block* block = *link;
  if (block) {
    *link = block->next;
    if (block->kind == DLX_SIM_DEVICE) used[block->device] -= block->size;
  }
  pthread_mutex_unlock(&lock);
  if (!block) return -1;
  if (block->ours) free(block->base);
  free(block);
  return 0;
}

int dlx_sim_find(const void* pointer, int* device) {
  int kind = DLX_SIM_UNKNOWN;
  pthread_mutex_lock(&lock);
  for (struct block* block = blocks; block && !kind; block = block->next) {
    if ((size_t)((const char*)pointer - block->base) >= block->size) continue;
    kind = block->kind;
    *device = block->device;
  }
  pthread_mutex_unlock(&lock);
  return kind;
}

size_t dlx_sim_used(int device) {
  pthread_mutex_lock(&lock);
  size_t bytes = used[device];
  pthread_mutex_unlock(&lock);
  return bytes;
}

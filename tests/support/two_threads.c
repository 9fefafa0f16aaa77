/* Two first allocations at the same time. The caller has the GIL all the time; the other thread has neither GIL nor thread state. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int (*allocate_fn)(void*, void**, void*, void*);

static struct {
  allocate_fn fn;
  void* prototype;
  void** out;
  pthread_t thread;
  int id, rc;
} other = {.rc = -2};

static void* allocate_there(void* unused) {
  (void)unused;
  __atomic_store_n(&other.id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  const int rc = other.fn(other.prototype, other.out, NULL, NULL);
  __atomic_store_n(&other.rc, rc, __ATOMIC_RELEASE);
  return NULL;
}

/* 'R' while the other thread runs, 'S' while it waits: for a lock, or for the GIL. */
static char state_of_other(void) {
  char path[64], line[256] = "";
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", __atomic_load_n(&other.id, __ATOMIC_ACQUIRE));
  FILE* file = fopen(path, "r");
  if (file == NULL) return 'R';
  const char* name_end = fgets(line, sizeof(line), file) == NULL ? NULL : strrchr(line, ')');
  fclose(file);
  return name_end == NULL ? 'R' : name_end[2];
}

/* Allocates there, and here as soon as the other thread waits or has its memory. -2 if there is no thread. */
int allocate_here_while_there(allocate_fn fn, void* prototype, void** here, void** there) {
  other.fn = fn;
  other.prototype = prototype;
  other.out = there;
  if (pthread_create(&other.thread, NULL, allocate_there, NULL) != 0) return -2;
  while (__atomic_load_n(&other.rc, __ATOMIC_ACQUIRE) == -2 && state_of_other() != 'S') {
  }
  return fn(prototype, here, NULL, NULL);
}

/* Without the GIL: what the other thread's allocation returned. */
int wait_for_there(void) {
  pthread_join(other.thread, NULL);
  return other.rc;
}

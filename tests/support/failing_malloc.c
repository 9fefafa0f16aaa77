/* For LD_PRELOAD: one malloc of a call finds no memory, on this thread. operator new of libstdc++ calls malloc, too. */
#include <stddef.h>
#include <stdio.h>

extern void* __libc_malloc(size_t size); /* glibc's own name for it */

static __thread long left; /* until the one that fails; 0: none does */

void* malloc(size_t size) {
  if (left > 0 && --left == 0) return NULL;
  return __libc_malloc(size);
}

/* fn(a, b), whose nth malloc fails. `reached` says whether there were so many. */
int call_failing(long nth, int (*fn)(void*, void*), void* a, void* b, int* reached) {
  left = nth;
  const int rc = fn(a, b);
  *reached = left == 0;
  left = 0;
  return rc;
}

static void copy_error(void* context, const char* kind, const char* message) {
  snprintf(context, 512, "%s: %s", kind, message);
}

/* The same for an allocator of the table; `error` gets what it reports, at most 512 bytes. */
int allocate_failing(long nth, int (*fn)(void*, void**, void*, void*), void* prototype, void** out, char* error,
                     int* reached) {
  left = nth;
  const int rc = fn(prototype, out, error, (void*)&copy_error);
  *reached = left == 0;
  left = 0;
  return rc;
}

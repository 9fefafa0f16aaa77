/* What the files of libcudart share: error codes and the state of the calling thread. */
#pragma once
#include "sim.h"

#include <stddef.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_READY = 600 };

#define dlx_sim_queue_of DLX_SIM(queue_of)

extern _Thread_local int dlx_sim_device; /* the current device */
extern _Thread_local int dlx_sim_error;  /* what cudaGetLastError answers next */

static inline int done(int error) {
  if (error) dlx_sim_error = error;
  return error;
}

/* The queue of a stream; that of the current device's default stream for NULL. */
struct queue* dlx_sim_queue_of(void* stream);

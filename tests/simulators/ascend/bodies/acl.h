/* What the files of the simulated CANN share: error codes, the state of the calling thread, and work given to a stream. */
#pragma once
#include "sim.h"

#include <stddef.h>
#include <stdint.h>

enum {
  SUCCESS = 0,
  PARAM_INVALID = 107000,
  INVALID_DEVICE = 107001,
  REPORT_TIMEOUT = 107012,
  OUT_OF_MEMORY = 207001,
  NO_DEVICE = 207004,
  INTERNAL_ERROR = 507000,
};

#define dlx_sim_device DLX_SIM(device)
#define dlx_sim_work DLX_SIM(work)
#define dlx_sim_stub DLX_SIM(stub)
#define dlx_sim_queue_of DLX_SIM(queue_of)

extern _Thread_local int dlx_sim_device; /* the current device */

/* What every function does that gives work to a stream: waits while recorder.held() holds it, then enters the record, and
 * returns the error of recorder.queue_failing_work(). torch_npu calls such functions on its queue's own thread. */
int dlx_sim_work(const char* name);

/* What a function without a body does (stub.h). */
int dlx_sim_stub(const char* name);

#define WORK()                          \
  do {                                  \
    int error = dlx_sim_work(__func__); \
    if (error) return error;            \
  } while (0)

/* The queue of a stream; that of the current device's default stream for NULL. */
struct queue* dlx_sim_queue_of(void* stream);

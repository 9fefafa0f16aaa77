/* libascendcl, streams and events. */
#include "acl.h"
#include "queue.h"

#include <stdlib.h>

static struct queue defaults[DLX_SIM_MAX_DEVICES];

__attribute__((constructor)) static void open_defaults(void) {
  for (int device = 0; device < DLX_SIM_MAX_DEVICES; ++device) dlx_sim_open_queue(&defaults[device], device);
}

struct queue* dlx_sim_queue_of(void* stream) { return stream ? stream : &defaults[dlx_sim_device]; }

static int create(struct queue** out) {
  *out = malloc(sizeof **out);
  if (!*out) return INTERNAL_ERROR;
  dlx_sim_open_queue(*out, dlx_sim_device);
  return SUCCESS;
}

int aclrtCreateStream(struct queue** out) {
  NOTE();
  return create(out);
}

int aclrtCreateStreamWithConfig(struct queue** out, uint32_t priority, uint32_t flag) {
  NOTE();
  (void)priority, (void)flag;
  return create(out);
}

static int destroy(struct queue* stream) {
  dlx_sim_close_queue(stream);
  free(stream);
  return SUCCESS;
}

int aclrtDestroyStream(struct queue* stream) {
  NOTE();
  return destroy(stream);
}

int aclrtDestroyStreamForce(struct queue* stream) {
  NOTE();
  return destroy(stream);
}

int aclrtStreamQuery(void* stream, int* status) {
  NOTE();
  *status = !dlx_sim_is_idle(dlx_sim_queue_of(stream)); /* ACL_STREAM_STATUS_COMPLETE or ..._NOT_READY */
  return SUCCESS;
}

int aclrtSynchronizeStream(void* stream) {
  NOTE();
  dlx_sim_drain(dlx_sim_queue_of(stream));
  return SUCCESS;
}

int aclrtSynchronizeStreamWithTimeout(void* stream, int32_t milliseconds) {
  NOTE();
  (void)milliseconds;
  dlx_sim_drain(dlx_sim_queue_of(stream));
  return SUCCESS;
}

int aclrtSynchronizeDevice(void) {
  NOTE();
  dlx_sim_drain_device(dlx_sim_device);
  return SUCCESS;
}

int aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds) {
  NOTE();
  (void)milliseconds;
  dlx_sim_drain_device(dlx_sim_device);
  return SUCCESS;
}

int aclrtStreamWaitEvent(void* stream, struct event* event) {
  NOTE();
  dlx_sim_wait(dlx_sim_queue_of(stream), event);
  return SUCCESS;
}

static int create_event(struct event** out) {
  *out = dlx_sim_make_event();
  return *out ? SUCCESS : INTERNAL_ERROR;
}

int aclrtCreateEvent(struct event** out) {
  NOTE();
  return create_event(out);
}

int aclrtCreateEventWithFlag(struct event** out, uint32_t flag) {
  NOTE();
  (void)flag;
  return create_event(out);
}

int aclrtCreateEventExWithFlag(struct event** out, uint32_t flag) {
  NOTE();
  (void)flag;
  return create_event(out);
}

int aclrtDestroyEvent(struct event* event) {
  NOTE();
  dlx_sim_drop_event(event);
  return SUCCESS;
}

int aclrtRecordEvent(struct event* event, void* stream) {
  NOTE();
  dlx_sim_record(dlx_sim_queue_of(stream), event);
  return SUCCESS;
}

int aclrtQueryEventStatus(struct event* event, int* status) {
  NOTE();
  *status = dlx_sim_event_is_done(event); /* ACL_EVENT_RECORDED_STATUS_NOT_READY or ..._COMPLETE */
  return SUCCESS;
}

int aclrtQueryEventWaitStatus(struct event* event, int* status) {
  NOTE();
  *status = !dlx_sim_event_is_done(event); /* ACL_EVENT_WAIT_STATUS_COMPLETE or ..._NOT_READY */
  return SUCCESS;
}

int aclrtSynchronizeEvent(struct event* event) {
  NOTE();
  dlx_sim_wait_here(event);
  return SUCCESS;
}

int aclrtSynchronizeEventWithTimeout(struct event* event, int32_t milliseconds) {
  NOTE();
  (void)milliseconds;
  dlx_sim_wait_here(event);
  return SUCCESS;
}

int aclrtEventElapsedTime(float* milliseconds, void* start, void* end) {
  NOTE();
  (void)start, (void)end;
  *milliseconds = 0;
  return SUCCESS;
}

/* libascendcl, streams and events. Work is finished when it is accepted, so nothing ever has to wait. */
#include "acl.h"

#include <stdlib.h>

static int create(void** out) {
  *out = malloc(16);
  return *out ? SUCCESS : INTERNAL_ERROR;
}

int aclrtCreateStream(void** out) {
  NOTE();
  return create(out);
}

int aclrtCreateStreamWithConfig(void** out, uint32_t priority, uint32_t flag) {
  NOTE();
  (void)priority, (void)flag;
  return create(out);
}

int aclrtDestroyStream(void* stream) {
  NOTE();
  free(stream);
  return SUCCESS;
}

int aclrtDestroyStreamForce(void* stream) {
  NOTE();
  free(stream);
  return SUCCESS;
}

int aclrtStreamQuery(void* stream, int* status) {
  NOTE();
  (void)stream;
  *status = 0; /* ACL_STREAM_STATUS_COMPLETE */
  return SUCCESS;
}

int aclrtSynchronizeStreamWithTimeout(void* stream, int32_t milliseconds) {
  NOTE();
  (void)stream, (void)milliseconds;
  return SUCCESS;
}

int aclrtSynchronizeDevice(void) {
  NOTE();
  return SUCCESS;
}

int aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds) {
  NOTE();
  (void)milliseconds;
  return SUCCESS;
}

int aclrtLaunchCallback(void (*function)(void*), void* data, int block, void* stream) {
  WORK();
  (void)block, (void)stream;
  function(data);
  return SUCCESS;
}

int aclrtCreateEventWithFlag(void** out, uint32_t flag) {
  NOTE();
  (void)flag;
  return create(out);
}

int aclrtCreateEventExWithFlag(void** out, uint32_t flag) {
  NOTE();
  (void)flag;
  return create(out);
}

int aclrtDestroyEvent(void* event) {
  NOTE();
  free(event);
  return SUCCESS;
}

int aclrtQueryEventStatus(void* event, int* status) {
  NOTE();
  (void)event;
  *status = 1; /* ACL_EVENT_RECORDED_STATUS_COMPLETE */
  return SUCCESS;
}

int aclrtQueryEventWaitStatus(void* event, int* status) {
  NOTE();
  (void)event;
  *status = 0; /* ACL_EVENT_WAIT_STATUS_COMPLETE */
  return SUCCESS;
}

int aclrtEventElapsedTime(float* milliseconds, void* start, void* end) {
  NOTE();
  (void)start, (void)end;
  *milliseconds = 0;
  return SUCCESS;
}

/* libcudart, streams, events and the functions that are called before a launch. Copies are done at once and kernels do
 * nothing, so nothing ever has to wait. */
#include "cudart.h"

#include <stdlib.h>

struct stream {
  int device, priority;
};

static int create_stream(struct stream** out, int priority) {
  if (!dlx_sim_device_count()) return done(NO_DEVICE);
  *out = malloc(sizeof **out);
  if (!*out) return done(OUT_OF_MEMORY);
  **out = (struct stream){dlx_sim_device, priority};
  dlx_sim_activate(dlx_sim_device);
  return SUCCESS;
}

int cudaStreamCreate(struct stream** out) {
  NOTE();
  return create_stream(out, 0);
}

int cudaStreamCreateWithFlags(struct stream** out, unsigned flags) {
  NOTE();
  (void)flags;
  return create_stream(out, 0);
}

int cudaStreamCreateWithPriority(struct stream** out, unsigned flags, int priority) {
  NOTE();
  (void)flags;
  return create_stream(out, priority);
}

int cudaStreamDestroy(struct stream* stream) {
  NOTE();
  free(stream);
  return SUCCESS;
}

int cudaStreamGetPriority(struct stream* stream, int* priority) {
  NOTE();
  *priority = stream ? stream->priority : 0;
  return SUCCESS;
}

int cudaStreamGetDevice(struct stream* stream, int* device) {
  NOTE();
  *device = stream ? stream->device : dlx_sim_device;
  return SUCCESS;
}

int cudaStreamIsCapturing(void* stream, int* status) {
  NOTE();
  (void)stream;
  *status = 0; /* cudaStreamCaptureStatusNone */
  return SUCCESS;
}

/* The three generations differ in the parameters after `id`, which stay unchanged if nothing is captured. */
static int capture_info(int* status, unsigned long long* id) {
  *status = 0;
  if (id) *id = 0;
  return SUCCESS;
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  NOTE();
  (void)stream;
  return capture_info(status, id);
}

int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id) {
  NOTE();
  (void)stream;
  return capture_info(status, id);
}

int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id) {
  NOTE();
  (void)stream;
  return capture_info(status, id);
}

int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  NOTE();
  (void)stream;
  function(data);
  return SUCCESS;
}

int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned flags) {
  NOTE();
  (void)flags;
  function(stream, SUCCESS, data);
  return SUCCESS;
}

static int create_event(void** out) {
  *out = malloc(1);
  return done(*out ? SUCCESS : OUT_OF_MEMORY);
}

int cudaEventCreate(void** out) {
  NOTE();
  return create_event(out);
}

int cudaEventCreateWithFlags(void** out, unsigned flags) {
  NOTE();
  (void)flags;
  return create_event(out);
}

int cudaEventDestroy(void* event) {
  NOTE();
  free(event);
  return SUCCESS;
}

int cudaEventElapsedTime(float* milliseconds, void* start, void* end) {
  NOTE();
  (void)start, (void)end;
  *milliseconds = 0;
  return SUCCESS;
}

/* ---- kernels: launches are stubs; these functions are called before a launch ---- */

struct function_attributes { /* the leading part of cudaFuncAttributes */
  size_t shared_size, const_size, local_size;
  int max_threads, registers, ptx_version, binary_version;
};

int cudaFuncGetAttributes(struct function_attributes* out, const void* function) {
  NOTE();
  (void)function;
  *out = (struct function_attributes){0, 0, 0, 1024, 32, 80, 80};
  return SUCCESS;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks_out, const void* function, int threads, size_t shared) {
  NOTE();
  (void)function, (void)threads, (void)shared;
  *blocks_out = 1;
  return SUCCESS;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks_out, const void* function, int threads,
                                                           size_t shared, unsigned flags) {
  NOTE();
  (void)function, (void)threads, (void)shared, (void)flags;
  *blocks_out = 1;
  return SUCCESS;
}

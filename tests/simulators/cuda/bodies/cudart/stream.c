/* libcudart, streams, events and the functions that are called before a launch. Kernels do nothing. */
#include "cudart.h"
#include "queue.h"

#include <stdlib.h>

struct stream {
  struct queue queue;
  int priority;
};

static struct queue defaults[DLX_SIM_MAX_DEVICES];

__attribute__((constructor)) static void open_defaults(void) {
  for (int device = 0; device < DLX_SIM_MAX_DEVICES; ++device) dlx_sim_open_queue(&defaults[device], device);
}

struct queue* dlx_sim_queue_of(void* stream) {
  return stream ? &((struct stream*)stream)->queue : &defaults[dlx_sim_device];
}

static int create_stream(struct stream** out, int priority) {
  if (!dlx_sim_device_count()) return done(NO_DEVICE);
  *out = malloc(sizeof **out);
  if (!*out) return done(OUT_OF_MEMORY);
  (*out)->priority = priority;
  dlx_sim_open_queue(&(*out)->queue, dlx_sim_device);
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
  dlx_sim_close_queue(&stream->queue);
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
  *device = stream ? stream->queue.device : dlx_sim_device;
  return SUCCESS;
}

int cudaStreamIsCapturing(void* stream, int* status) {
  NOTE();
  *status = dlx_sim_is_capturing(dlx_sim_queue_of(stream)); /* cudaStreamCaptureStatusNone or ...Active */
  return SUCCESS;
}

/* The three generations differ in the parameters after `id`, which stay unchanged. */
static int capture_info(void* stream, int* status, unsigned long long* id) {
  *status = dlx_sim_is_capturing(dlx_sim_queue_of(stream));
  if (id) *id = *status ? (unsigned long long)(size_t)stream : 0;
  return SUCCESS;
}

int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  NOTE();
  return capture_info(stream, status, id);
}

int cudaStreamGetCaptureInfo_v2(void* stream, int* status, unsigned long long* id) {
  NOTE();
  return capture_info(stream, status, id);
}

int cudaStreamGetCaptureInfo_v3(void* stream, int* status, unsigned long long* id) {
  NOTE();
  return capture_info(stream, status, id);
}

static int is_ready(int ready) { return ready ? SUCCESS : NOT_READY; } /* which cudaGetLastError does not keep */

int cudaStreamQuery(void* stream) {
  NOTE();
  return is_ready(dlx_sim_is_idle(dlx_sim_queue_of(stream)));
}

int cudaStreamSynchronize(void* stream) {
  NOTE();
  dlx_sim_drain(dlx_sim_queue_of(stream));
  return SUCCESS;
}

int cudaDeviceSynchronize(void) {
  NOTE();
  dlx_sim_drain_device(dlx_sim_device);
  return SUCCESS;
}

int cudaStreamWaitEvent(void* stream, struct event* event, unsigned flags) {
  NOTE();
  (void)flags;
  dlx_sim_wait(dlx_sim_queue_of(stream), event);
  return SUCCESS;
}

int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  NOTE();
  dlx_sim_call(dlx_sim_queue_of(stream), function, data);
  return SUCCESS;
}

struct callback {
  void (*function)(void*, int, void*);
  void *stream, *data;
};

static void call_back(void* argument) {
  struct callback* callback = argument;
  callback->function(callback->stream, SUCCESS, callback->data);
  free(callback);
}

int cudaStreamAddCallback(void* stream, void (*function)(void*, int, void*), void* data, unsigned flags) {
  NOTE();
  (void)flags;
  struct callback* callback = malloc(sizeof *callback);
  if (!callback) return done(OUT_OF_MEMORY);
  *callback = (struct callback){function, stream, data};
  dlx_sim_call(dlx_sim_queue_of(stream), &call_back, callback);
  return SUCCESS;
}

static int create_event(struct event** out) {
  *out = dlx_sim_make_event();
  return done(*out ? SUCCESS : OUT_OF_MEMORY);
}

int cudaEventCreate(struct event** out) {
  NOTE();
  return create_event(out);
}

int cudaEventCreateWithFlags(struct event** out, unsigned flags) {
  NOTE();
  (void)flags;
  return create_event(out);
}

int cudaEventDestroy(struct event* event) {
  NOTE();
  dlx_sim_drop_event(event);
  return SUCCESS;
}

int cudaEventRecord(struct event* event, void* stream) {
  NOTE();
  dlx_sim_record(dlx_sim_queue_of(stream), event);
  return SUCCESS;
}

int cudaEventRecordWithFlags(struct event* event, void* stream, unsigned flags) {
  NOTE();
  (void)flags;
  dlx_sim_record(dlx_sim_queue_of(stream), event);
  return SUCCESS;
}

int cudaEventQuery(struct event* event) {
  NOTE();
  return is_ready(dlx_sim_event_is_done(event));
}

int cudaEventSynchronize(struct event* event) {
  NOTE();
  dlx_sim_wait_here(event);
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

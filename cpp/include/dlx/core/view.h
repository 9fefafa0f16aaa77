/*
 * A tensor argument as a borrowed view: with the table of its type, or through __dlpack__ where there is none.
 */
#ifndef DLX_CORE_VIEW_H_
#define DLX_CORE_VIEW_H_

#include "dlpack_method.h"
#include "table.h"

/*
 * What an argument is borrowed as. `tensor` describes the object's memory for as long as the view is not released and
 * the caller holds the object: during a call from Python the caller of the function does. `shape` and `strides` are the
 * object's own where it has a table: if another thread may change its geometry meanwhile (the GIL is released), copy
 * them first. `strides` may be NULL: contiguous.
 */
typedef struct dlx_view {
  DLTensor tensor;
  uint64_t flags;                  /* DLPACK_FLAG_BITMASK_*; a table does not tell, so 0 there */
  const DLPackExchangeAPI* api;    /* NULL: through __dlpack__ */
  PyObject* object;                /* borrowed */
  PyObject* capsule;               /* what __dlpack__ gave; the view owns it */
  DLManagedTensorVersioned* owned; /* for a table that cannot borrow; the view owns it */
  void* stream;                    /* without a table: the stream that the object's work was put in order with */
} dlx_view;

#define DLX_EMPTY_VIEW {{NULL, {kDLCPU, 0}, 0, {0, 0, 0}, NULL, NULL, 0}, 0, NULL, NULL, NULL, NULL, NULL}

/* Ends a view; it may be used again. Needs the GIL, sets no exception and keeps a pending one. */
DLX_INLINE void dlx_release(dlx_view* view) {
  if (DLX_UNLIKELY(view->capsule != NULL || view->owned != NULL)) {
    const dlx_pending old = dlx_set_aside(); /* a producer's deleter may run any code */
    PyObject* capsule = view->capsule;
    DLManagedTensorVersioned* owned = view->owned;
    view->capsule = NULL;
    view->owned = NULL;
    Py_XDECREF(capsule);
    if (owned != NULL && owned->deleter != NULL) owned->deleter(owned);
    dlx_put_back(old);
  }
}

/* A function of a table said -1; dlpack.h promises an exception then. */
DLX_INLINE int dlx_failed(const char* function) {
  if (!PyErr_Occurred()) PyErr_Format(PyExc_SystemError, "%s failed and set no exception", function);
  return -1;
}

DLX_INLINE DLX_COLD int dlx_view_owned(dlx_view* view) {
  DLManagedTensorVersioned* managed = NULL;
  if (view->api->managed_tensor_from_py_object_no_sync(view->object, &managed) != 0 || managed == NULL) {
    return dlx_failed("managed_tensor_from_py_object_no_sync");
  }
  view->owned = managed;
  view->tensor = managed->dl_tensor;
  view->flags = managed->flags;
  return 0;
}

/* Borrows by this table, which is that of the object's type. 0, or -1 with an exception. */
DLX_INLINE int dlx_view_by_table(PyObject* object, const DLPackExchangeAPI* api, dlx_view* view) {
  view->api = api;
  view->object = object;
  if (DLX_UNLIKELY(api->dltensor_from_py_object_no_sync == NULL)) return dlx_view_owned(view);
  if (DLX_UNLIKELY(api->dltensor_from_py_object_no_sync(object, &view->tensor) != 0)) {
    return dlx_failed("dltensor_from_py_object_no_sync");
  }
  return 0;
}

/* Memory that the host reads and writes; no stream belongs to it. */
DLX_INLINE int dlx_on_host(DLDeviceType type) { return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost; }

/*
 * Borrows through __dlpack__ an object on `device`, which is what __dlpack_device__ says. `stream`: the stream that the
 * caller will work on, or NULL for the framework's current one, which view->stream is then. 0, or -1 with an exception.
 */
DLX_INLINE DLX_COLD int dlx_view_by_method(PyObject* object, DLDevice device, void* const* stream, dlx_view* view) {
  const dlx_pending old = dlx_set_aside();
  int failed = 0;
  view->api = NULL;
  view->object = object;
  view->stream = stream != NULL ? *stream : NULL;
  if (stream == NULL) failed = dlx_current_stream(object, device, &view->stream);
  if (!failed) failed = dlx_call_dlpack(object, device, view->stream, &view->capsule);
  if (!failed) failed = dlx_read_capsule(view->capsule, &view->tensor, &view->flags);
  if (!failed && dlx_on_host(view->tensor.device.device_type) != dlx_on_host(device.device_type)) {
    failed = dlx_error(PyExc_BufferError, "__dlpack__() gave memory of another device than __dlpack_device__() says");
  }
  dlx_put_back(old);
  if (failed) dlx_release(view);
  return failed ? -1 : 0;
}

/* Borrows an argument. 0, or -1 with an exception; a view that failed owns nothing. The caller holds the GIL. */
DLX_INLINE int dlx_borrow(PyObject* object, dlx_view* view) {
  const DLPackExchangeAPI* api;
  DLDevice device;
  const int found = dlx_table(Py_TYPE(object), &api);
  if (found > 0) return dlx_view_by_table(object, api, view);
  if (found < 0 || dlx_device_of(object, &device) < 0) return -1;
  return dlx_view_by_method(object, device, NULL, view);
}

/* Asks a table for its framework's current stream on an accelerator, for this thread. 0, or -1 with an exception. */
DLX_INLINE int dlx_table_stream(const DLPackExchangeAPI* api, DLDeviceType type, int32_t index, void** out) {
  if (api->current_work_stream == NULL) {
    return dlx_error(PyExc_BufferError, "its table has no function current_work_stream, so its stream is not known");
  }
  return api->current_work_stream(type, index, out) == 0 ? 0 : dlx_failed("current_work_stream");
}

/*
 * The stream that the object's framework works on, on the view's device, for this thread: launch there and nothing has
 * to be waited for. NULL for host memory, and for the default stream. 0, or -1 with an exception.
 */
DLX_INLINE int dlx_stream(const dlx_view* view, void** out) {
  *out = view->stream;
  if (view->api == NULL || dlx_on_host(view->tensor.device.device_type)) return 0;
  return dlx_table_stream(view->api, view->tensor.device.device_type, view->tensor.device.device_id, out);
}

#endif /* DLX_CORE_VIEW_H_ */

/*
 * Stands for a table that torch_npu would bring: all five functions live in this library and forward to another table. With
 * -DNULL_STREAM the stream is NULL.
 */
#include <dlpack/dlpack.h>
#include <stddef.h>

static const DLPackExchangeAPI* base;

static int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                    void (*set_error)(void* context, const char* kind, const char* message)) {
  return base->managed_tensor_allocator(prototype, out, context, set_error);
}

static int export_owning(void* object, DLManagedTensorVersioned** out) {
  return base->managed_tensor_from_py_object_no_sync(object, out);
}

static int import(DLManagedTensorVersioned* managed, void** out) {
  return base->managed_tensor_to_py_object_no_sync(managed, out);
}

static int export_view(void* object, DLTensor* out) { return base->dltensor_from_py_object_no_sync(object, out); }

static int stream(DLDeviceType type, int32_t index, void** out) {
#ifdef NULL_STREAM
  (void)type, (void)index;
  *out = NULL;
  return 0;
#else
  return base->current_work_stream(type, index, out);
#endif
}

__attribute__((visibility("default"))) const DLPackExchangeAPI* table_over(const DLPackExchangeAPI* other) {
  static DLPackExchangeAPI table;
  base = other;
  table = *other;
  table.managed_tensor_allocator = allocate;
  table.managed_tensor_from_py_object_no_sync = export_owning;
  table.managed_tensor_to_py_object_no_sync = import;
  table.dltensor_from_py_object_no_sync = export_view;
  table.current_work_stream = stream;
  return &table;
}

// Allocation, export of objects that are what they are, and the question for a stream.
#include "counts.h"
#include "describe.h"
#include "operations.h"
#include "tensor.h"

namespace {

struct Answer {
  int calls = 0;
  Kind kind = kNone;
};

void set_error(void* context, const char* kind, const char* message) {
  auto* answer = static_cast<Answer*>(context);
  ++answer->calls;
  answer->kind = kind_of(kind);
  check_text(message);
}

void check_allocated(DLManagedTensorVersioned* made, const DLTensor& prototype, const Rules& rules, uint8_t way) {
  CHECK(rules.kinds == 0, ": accepted, and the prototype gives cause for %u", rules.kinds);
  const Picture expected(prototype, rules);
  const DLTensor& seen = made->dl_tensor;
  CHECK((seen.data == nullptr) == rules.empty && seen.byte_offset == 0 && made->flags == 0, ": %p", seen.data);
  CHECK(std::memcmp(&seen.dtype, &prototype.dtype, sizeof(DLDataType)) == 0, " ");
  CHECK(seen.device.device_type == prototype.device.device_type, ": device %d", seen.device.device_type);
  CHECK(seen.ndim == prototype.ndim, ": %d dimensions", seen.ndim);
  for (int32_t i = 0; i < seen.ndim; ++i) {
    CHECK(seen.shape[i] == expected.shape[i] && seen.strides[i] == expected.strides[i], ": dimension %d", i);
  }
  if (seen.device.device_type == kDLCPU && !rules.empty) {
    static_cast<char*>(seen.data)[0] = 1;
    static_cast<char*>(seen.data)[static_cast<int64_t>(rules.bytes) - 1] = 1;
  }
  delete_managed(made, way >= 0xFC);
}

}  // namespace

void allocate(Reader& reader) {
  const uint8_t way = reader.byte();
  DLTensor prototype = describe(reader);
  Rules rules = rules_for_allocation(prototype);
  Answer answer;
  DLManagedTensorVersioned* made = nullptr;
  const bool silent = (way & 1) != 0;
  const int rc = g_host.table->managed_tensor_allocator(&prototype, &made, &answer, silent ? nullptr : &set_error);
  count(kAllocate, rc == 0);
  CHECK(PyErr_Occurred() == nullptr, ": an exception of Python is set");
  CHECK(answer.calls == (rc == 0 || silent ? 0 : 1), ": returned %d after %d calls of SetError", rc, answer.calls);
  if (rc == 0) {
    check_allocated(made, prototype, rules, way);
  } else {
    if (rules.bytes > (1 << 20)) rules.kinds |= kMemory;
    CHECK(made == nullptr && rc == -1, ": refused with %d, but something was made", rc);
    CHECK(rules.kinds != 0 && (silent || (rules.kinds & answer.kind) != 0),
          ": kind %u, and the prototype gives cause for %u", answer.kind, rules.kinds);
  }
  free_shape(&prototype);
}

void export_object(Reader& reader) {
  const Object& object = g_host.objects[reader.byte() % g_host.object_count];
  const bool pending = reader.once_in(2);
  DLTensor view;
  DLManagedTensorVersioned* made = nullptr;
  int rc, owning_rc;
  const Kind kind =
      call_checked(pending, &rc, [&] { return g_host.table->dltensor_from_py_object_no_sync(object.object, &view); });
  const Kind owning_kind = call_checked(
      pending, &owning_rc, [&] { return g_host.table->managed_tensor_from_py_object_no_sync(object.object, &made); });
  count(kExport, rc == 0);
  CHECK(rc == (object.use_count != nullptr ? 0 : -1) && rc == owning_rc && kind == owning_kind, ": %d, kind %u", rc,
        kind);
  CHECK((kind & ~(kBuffer | kType)) == 0, ": kind %u", kind);
  if (rc != 0) return;
  CHECK(made->dl_tensor.data == view.data && made->dl_tensor.ndim == view.ndim, " ");
  CHECK(made->dl_tensor.shape != view.shape || view.ndim == 0, ": the array of the tensor itself");
  made->deleter(made);
}

void ask_stream(Reader& reader) {
  const DLDevice device = make_device(reader);
  const bool pending = reader.once_in(2);
  void* const untouched = &g_counts;
  void* stream = untouched;
  int rc;
  const Kind kind = call_checked(
      pending, &rc, [&] { return g_host.table->current_work_stream(device.device_type, device.device_id, &stream); });
  count(kStream, rc == 0);
  const bool answers =
      is_accelerator(device.device_type) && device.device_id >= 0 && device.device_id < g_host.device_count;
  const bool none = is_host_memory(device.device_type) || device.device_type == kDLMetal;
  CHECK(rc == (answers || none ? 0 : -1), ": %d for device %d:%d", rc, device.device_type, device.device_id);
  CHECK(rc == 0 || (kind == kRuntime && stream == untouched), ": kind %u", kind);
  CHECK(!none || stream == nullptr, ": host memory has no stream");
}

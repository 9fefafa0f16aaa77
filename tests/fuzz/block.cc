// A managed tensor of the table's own, which a consumer changes and then deletes or hands back.
#include "counts.h"
#include "describe.h"
#include "operations.h"
#include "tensor.h"

namespace {

// What a consumer has put in the place of the block's own; it frees that.
struct Changed {
  DLTensor own = {};
  bool shape = false, strides = false;
};

DLManagedTensorVersioned* allocate_small(Reader& reader, Object* object) {
  int64_t shape[2] = {reader.byte() % 16, reader.byte() % 16};
  DLTensor prototype = {};
  prototype.ndim = reader.byte() % 3;
  prototype.shape = shape;
  prototype.dtype = g_host.dtypes[reader.byte() % g_host.dtype_count];
  prototype.device = {kDLCPU, 0};
  if (reader.once_in(8) && g_host.device_count > 0) {
    prototype.device = {static_cast<DLDeviceType>(g_host.accelerator), g_host.device_count - 1};
  }
  DLManagedTensorVersioned* made = nullptr;
  CHECK(g_host.table->managed_tensor_allocator(&prototype, &made, nullptr, nullptr) == 0, " ");
  const Rules rules = rules_for_allocation(prototype);
  *object = {nullptr, reinterpret_cast<uintptr_t>(made->dl_tensor.data), static_cast<uint64_t>(rules.bytes), nullptr};
  return made;
}

DLManagedTensorVersioned* make_block(Reader& reader, Object* object) {
  const uint8_t kind = reader.byte();
  if (kind < 64) return allocate_small(reader, object);
  *object = g_host.objects[kind % g_host.exportable_count];
  DLManagedTensorVersioned* made = nullptr;
  CHECK(g_host.table->managed_tensor_from_py_object_no_sync(object->object, &made) == 0, " ");
  return made;
}

// The deleter that a consumer may put in front of the block's own.
void (*g_inner)(DLManagedTensorVersioned*) = nullptr;
int g_wrapped = 0;

void delete_wrapped(DLManagedTensorVersioned* managed) {
  ++g_wrapped;
  g_inner(managed);
}

void change_shape(Reader& reader, DLTensor* tensor, Changed* changed) {
  const uint8_t how = reader.byte();
  if ((how & 3) == 1) {
    for (int32_t i = 0; i < tensor->ndim; ++i) tensor->shape[i] = reader.number();
  } else if ((how & 3) == 2) {
    describe_shape(reader, &changed->own);
    tensor->ndim = changed->own.ndim;
    tensor->shape = changed->own.shape;
    tensor->strides = changed->own.strides;
    return;
  }
  if ((how & 12) == 4) tensor->strides = nullptr;
  if ((how & 12) == 8) {
    for (int32_t i = 0; i < tensor->ndim; ++i) tensor->strides[i] = reader.number();
  }
  if (how >= 0xF0 && tensor->ndim > 0) --tensor->ndim;
}

void change(Reader& reader, const Object& object, DLManagedTensorVersioned* managed, Changed* changed) {
  DLTensor* tensor = &managed->dl_tensor;
  const uint8_t what = reader.byte();
  if ((what & 1) != 0) change_shape(reader, tensor, changed);
  if ((what & 2) != 0) tensor->dtype = make_dtype(reader);
  if ((what & 4) != 0) tensor->byte_offset = static_cast<uint64_t>(reader.number());
  if ((what & 8) != 0) tensor->data = reinterpret_cast<void*>(object.memory + static_cast<uint64_t>(reader.number()));
  if ((what & 0x70) == 0x10) tensor->device = make_device(reader);
  if ((what & 0x70) == 0x20) managed->flags = reader.bits(8);
  if ((what & 0x70) == 0x30) managed->version = {reader.byte() % 3u, reader.byte()};
  if ((what & 0x70) == 0x40) tensor->data = make_data(reader);
}

// Through the table, in the consumer's hands now. Whether it was accepted.
bool hand_back(DLManagedTensorVersioned* managed, const Rules& rules, uint8_t way) {
  const DLManagedTensorVersioned before = *managed;
  Picture* expected = rules.kinds == 0 ? new Picture(managed->dl_tensor, rules) : nullptr;
  void* tensor = nullptr;
  int rc;
  const Kind kind = call_checked((way & 1) != 0, &rc,
                                 [&] { return g_host.table->managed_tensor_to_py_object_no_sync(managed, &tensor); });
  count(kBlock, rc == 0);
  if (rc != 0) {
    CHECK((rules.kinds & kind) != 0, ": kind %u, and the block gives cause for %u", kind, rules.kinds);
    CHECK(tensor == nullptr && std::memcmp(managed, &before, sizeof(before)) == 0, ": refused, but changed");
    return false;
  }
  CHECK(expected != nullptr, ": accepted, and the block gives cause for %u", rules.kinds);
  check_tensor(tensor, *expected);
  delete expected;
  drop_tensor(tensor, (way & 2) != 0, way >= 0xFC);
  return true;
}

}  // namespace

void import_block(Reader& reader) {
  const uint8_t way = reader.byte();
  Object object;
  DLManagedTensorVersioned* managed = make_block(reader, &object);
  const uint32_t owners = object.use_count == nullptr ? 0 : *object.use_count;
  const DLDevice device = managed->dl_tensor.device;
  Changed changed;
  change(reader, object, managed, &changed);
  const bool wrapped = (way & 4) != 0;
  Rules rules = wrapped ? rules_for_import(*managed) : rules_for_block(*managed, object, device);
  g_wrapped = 0;
  if (wrapped) {
    g_inner = managed->deleter;
    managed->deleter = &delete_wrapped;
  }
  const bool handed_back = (way & 0x18) != 0 && hand_back(managed, rules, way);
  if (!handed_back) delete_managed(managed, way >= 0xFC);
  if (g_wrapped != (wrapped ? 1 : 0) || (object.use_count != nullptr && *object.use_count == owners)) make_next_call();
  CHECK(object.use_count == nullptr || *object.use_count == owners - 1, ": %u owners, then %u", owners - 1,
        *object.use_count);
  CHECK(g_wrapped == (wrapped ? 1 : 0), ": the deleter ran %d times", g_wrapped);
  free_shape(&changed.own);
}

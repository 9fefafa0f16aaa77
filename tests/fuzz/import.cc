// A managed tensor of another library becomes a tensor, or stays the caller's.
#include "counts.h"
#include "describe.h"
#include "operations.h"
#include "tensor.h"

namespace {

int g_deleted = 0;

void free_foreign(DLManagedTensorVersioned* managed) {
  free_shape(&managed->dl_tensor);
  std::free(managed);
}

void delete_foreign(DLManagedTensorVersioned* managed) {
  ++g_deleted;
  free_foreign(managed);
}

DLManagedTensorVersioned* make_foreign(Reader& reader) {
  auto* managed = static_cast<DLManagedTensorVersioned*>(std::calloc(1, sizeof(DLManagedTensorVersioned)));
  managed->version = {1, 3};
  if (reader.once_in(32)) managed->version = {reader.byte(), reader.byte()};
  if (reader.once_in(8)) managed->flags = reader.bits(8);
  managed->manager_ctx = managed;
  managed->deleter = reader.once_in(8) ? nullptr : &delete_foreign;
  managed->dl_tensor = describe(reader);
  return managed;
}

}  // namespace

void import_foreign(Reader& reader) {
  const uint8_t way = reader.byte();
  DLManagedTensorVersioned* managed = make_foreign(reader);
  const DLManagedTensorVersioned before = *managed;
  const Rules rules = rules_for_import(*managed);
  void* const untouched = &g_deleted;
  void* tensor = untouched;
  int rc;
  g_deleted = 0;
  const Kind kind = call_checked((way & 1) != 0, &rc,
                                 [&] { return g_host.table->managed_tensor_to_py_object_no_sync(managed, &tensor); });
  count(kImport, rc == 0);
  if (rc != 0) {
    CHECK((rules.kinds & kind) != 0, ": kind %u, and the description gives cause for %u", kind, rules.kinds);
    CHECK(tensor == untouched && g_deleted == 0, ": refused, but something was done");
    CHECK(std::memcmp(managed, &before, sizeof(before)) == 0, ": refused, but changed");
    return free_foreign(managed);
  }
  CHECK(rules.kinds == 0, ": accepted, and the description gives cause for %u", rules.kinds);
  check_tensor(tensor, Picture(managed->dl_tensor, rules));
  CHECK(g_deleted == 0, ": deleted while the tensor lives");
  drop_tensor(tensor, (way & 2) != 0, way >= 0xFC);
  if (g_deleted == 0) make_next_call();
  CHECK(g_deleted == (before.deleter != nullptr ? 1 : 0), ": the deleter ran %d times", g_deleted);
  if (before.deleter == nullptr) free_foreign(managed);
}

#include "managed_block.h"

#include "deferred.h"
#include "glibc.h"
#include "likely.h"

namespace dlx {
namespace {

// PyGILState_Check is not part of the stable ABI, so it is looked up by name. False where it cannot be found.
bool holds_gil() {
#if defined(_WIN32)
  return false;
#else
  static std::atomic<void*> found{nullptr};
  void* address = found.load(std::memory_order_relaxed);
  if (address == nullptr) {
    address = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    found.store(address, std::memory_order_relaxed);
  }
  return address != nullptr && reinterpret_cast<int (*)()>(address)() == 1;
#endif
}

}  // namespace

void free_block(ManagedBlock* block) noexcept {
  block->~ManagedBlock();
  std::free(block);
}

void delete_block(DLManagedTensorVersioned* managed) noexcept {
  auto* block = static_cast<ManagedBlock*>(managed->manager_ctx);
  if (DLX_LIKELY(!block->storage.may_need_gil())) return free_block(block);
  if (!Py_IsInitialized()) return;  // nobody can take the GIL any more: the process frees the memory at its end
  if (holds_gil()) return free_block(block);
  defer_free(block);
}

}  // namespace dlx

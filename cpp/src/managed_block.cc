#include "managed_block.h"

namespace dlx {

void free_block(ManagedBlock* block) noexcept {
  block->~ManagedBlock();
  std::free(block);
}

void delete_block(DLManagedTensorVersioned* managed) noexcept {
  auto* block = static_cast<ManagedBlock*>(managed->manager_ctx);
  // Python's memory (torch.frombuffer) is freed under the GIL, which nobody can take once the interpreter is gone. The process frees it
  // at its end then.
  if (!block->storage.is_from_an_allocator() && !Py_IsInitialized()) return;
  free_block(block);
}

}  // namespace dlx

#include "owned.h"

namespace dlx {

void free_owned(Owned* owned) noexcept {
  owned->~Owned();
  std::free(owned);
}

void delete_owned(DLManagedTensorVersioned* managed) noexcept {
  auto* owned = static_cast<Owned*>(managed->manager_ctx);
  // Memory that did not come from an allocator of torch's may belong to Python (torch.frombuffer): its end needs the GIL, which
  // nobody can take once the interpreter is gone. It goes with the process then.
  if (owned->memory.allocator() == nullptr && !Py_IsInitialized()) return;
  free_owned(owned);
}

}  // namespace dlx

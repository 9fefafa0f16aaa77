#include "owned.h"

#include <cstdlib>
#include <new>

namespace dlx {

Owned* make_owned(Memory memory, int32_t ndim) noexcept {
  void* block = std::malloc(sizeof(Owned) + sizeof(int64_t) * 2 * static_cast<size_t>(ndim));
  if (block == nullptr) return nullptr;
  auto* owned = new (block) Owned{{}, std::move(memory)};
  owned->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  owned->managed.manager_ctx = owned;
  owned->managed.deleter = &delete_owned;
  owned->managed.flags = 0;
  DLTensor& tensor = owned->managed.dl_tensor;
  tensor.ndim = ndim;
  tensor.shape = reinterpret_cast<int64_t*>(owned + 1);
  tensor.strides = tensor.shape + ndim;
  tensor.byte_offset = 0;
  return owned;
}

void delete_owned(DLManagedTensorVersioned* managed) noexcept {
  auto* owned = static_cast<Owned*>(managed->manager_ctx);
  owned->~Owned();
  std::free(owned);
}

}  // namespace dlx

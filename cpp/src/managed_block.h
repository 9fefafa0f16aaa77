// The block behind every DLManagedTensorVersioned that this library hands out: the struct, the storage it keeps alive, and
// shape and strides of its own, so that a later in-place change of the exporting tensor's geometry does not reach it.
#ifndef DLX_MANAGED_BLOCK_H_
#define DLX_MANAGED_BLOCK_H_

#include <dlpack/dlpack.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "torch_tensor.h"

namespace dlx {

struct ManagedBlock {
  explicit ManagedBlock(Storage kept) : storage(std::move(kept)) {}

  DLManagedTensorVersioned managed;
  Storage storage;
};

// The deleter of every such block. Any thread, with or without the GIL, also after finalisation.
void delete_block(DLManagedTensorVersioned* managed) noexcept;

// Frees the block alone, whose storage somebody else has taken over.
void free_block(ManagedBlock* block) noexcept;

// A block for `storage` with room for `ndim` sizes and strides, its managed struct filled except for data, device and dtype.
// NULL if there is no memory for it; `storage` is then dropped. In the header because it is on the hot path.
inline ManagedBlock* make_block(Storage storage, int32_t ndim) noexcept {
  void* memory = std::malloc(sizeof(ManagedBlock) + sizeof(int64_t) * 2 * static_cast<size_t>(ndim));
  if (memory == nullptr) return nullptr;
  auto* block = new (memory) ManagedBlock(std::move(storage));
  block->managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  block->managed.manager_ctx = block;
  block->managed.deleter = &delete_block;
  block->managed.flags = 0;
  DLTensor& tensor = block->managed.dl_tensor;
  tensor.ndim = ndim;
  tensor.shape = reinterpret_cast<int64_t*>(block + 1);
  tensor.strides = tensor.shape + ndim;
  tensor.byte_offset = 0;
  return block;
}

// The block around `managed`, or NULL if somebody else made it.
inline ManagedBlock* block_of(DLManagedTensorVersioned* managed) {
  return managed->deleter == &delete_block ? static_cast<ManagedBlock*>(managed->manager_ctx) : nullptr;
}

}  // namespace dlx

#endif  // DLX_MANAGED_BLOCK_H_

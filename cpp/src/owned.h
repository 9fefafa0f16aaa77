// The block behind every DLManagedTensorVersioned that this library hands out: the struct, the memory it keeps alive, and
// shape and strides of its own, so that a later in-place change of the exporting tensor's geometry does not reach it.
#ifndef DLX_OWNED_H_
#define DLX_OWNED_H_

#include <dlpack/dlpack.h>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "torch_tensor.h"

namespace dlx {

struct Owned {
  explicit Owned(Memory kept) : memory(std::move(kept)) {}

  DLManagedTensorVersioned managed;
  Memory memory;
};

// The deleter of every such block. Any thread, with or without the GIL, also after finalisation.
void delete_owned(DLManagedTensorVersioned* managed) noexcept;

// Frees the block alone, whose memory somebody else has taken over.
void free_owned(Owned* owned) noexcept;

// A block for `memory` with room for `ndim` sizes and strides, its managed struct filled except for data, device and dtype.
// NULL if there is no room for it; `memory` is then dropped. In the header because it is on the hot path.
inline Owned* make_owned(Memory memory, int32_t ndim) noexcept {
  void* block = std::malloc(sizeof(Owned) + sizeof(int64_t) * 2 * static_cast<size_t>(ndim));
  if (block == nullptr) return nullptr;
  auto* owned = new (block) Owned(std::move(memory));
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

// The block around `managed`, or NULL if somebody else made it.
inline Owned* owned_of(DLManagedTensorVersioned* managed) {
  return managed->deleter == &delete_owned ? static_cast<Owned*>(managed->manager_ctx) : nullptr;
}

}  // namespace dlx

#endif  // DLX_OWNED_H_

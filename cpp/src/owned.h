// The block behind every DLManagedTensorVersioned that this library hands out: the struct, the memory it keeps alive, and
// shape and strides of its own, so that a later in-place change of the exporting tensor's geometry does not reach it.
#ifndef DLX_OWNED_H_
#define DLX_OWNED_H_

#include <dlpack/dlpack.h>

#include <cstdint>

#include "torch_tensor.h"

namespace dlx {

struct Owned {
  DLManagedTensorVersioned managed;
  Memory memory;
};

// A block for `memory` with room for `ndim` sizes and strides, its managed struct filled except for data, device and dtype.
// NULL if there is no memory for it; `memory` is then dropped.
Owned* make_owned(Memory memory, int32_t ndim) noexcept;

// The deleter in it. Any thread, with or without the GIL, also after finalisation.
void delete_owned(DLManagedTensorVersioned* managed) noexcept;

// The block around `managed`, or NULL if somebody else made it.
inline Owned* owned_of(DLManagedTensorVersioned* managed) {
  return managed->deleter == &delete_owned ? static_cast<Owned*>(managed->manager_ctx) : nullptr;
}

}  // namespace dlx

#endif  // DLX_OWNED_H_

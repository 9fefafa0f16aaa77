// Blocks whose end needs the GIL, from threads that do not hold it. A deleter must not wait for the GIL: whoever holds it may be waiting
// for that very thread. So such a block is kept until somebody has the GIL.
#ifndef DLX_DEFERRED_H_
#define DLX_DEFERRED_H_

#include <atomic>

#include "managed_block.h"

namespace dlx {

extern std::atomic<ManagedBlock*> g_deferred;

// Keeps the block. CPython is asked to call back (Py_AddPendingCall); where its queue is full, the next call of ours with the GIL frees it.
// Any thread, without the GIL; takes no lock of ours. Nothing is freed after finalisation: the process does that.
void defer_free(ManagedBlock* block) noexcept;

// Frees what was kept. Needs the GIL.
void free_deferred_now() noexcept;

inline void free_deferred() noexcept {
  if (DLX_UNLIKELY(g_deferred.load(std::memory_order_relaxed) != nullptr)) free_deferred_now();
}

}  // namespace dlx

#endif  // DLX_DEFERRED_H_

// A child that was forked after its parent had used the accelerator has no stream: the runtime does not survive a fork.
#ifndef DLX_FORKS_H_
#define DLX_FORKS_H_

#include <atomic>

#include "errors.h"
#include "likely.h"

namespace dlx {

// kNone: not forked, or in a child that may use the device.
enum class Fork { kNone, kUnknown, kUnusable };
extern std::atomic<Fork> g_fork;

// Watches for forks from now on, also those that CPython does not know of. Called once, before the table is handed out.
void watch_forks() noexcept;

// RuntimeError where torch says that this process may not use the accelerator (Backend::fork_module). Asked once in each child. Takes the
// GIL for that, once.
bool check_fork_now(Error* error);

inline bool check_fork(Error* error) {
  return DLX_LIKELY(g_fork.load(std::memory_order_relaxed) == Fork::kNone) || check_fork_now(error);
}

}  // namespace dlx

#endif  // DLX_FORKS_H_

#include "deferred.h"

namespace dlx {

std::atomic<ManagedBlock*> g_deferred{nullptr};

namespace {

int free_deferred_in_python(void*) {
  free_deferred_now();
  return 0;
}

// Where the rest of the list stands in a block that nobody else uses any more.
ManagedBlock* next_of(const ManagedBlock* block) { return static_cast<ManagedBlock*>(block->managed.manager_ctx); }

}  // namespace

void defer_free(ManagedBlock* block) noexcept {
  ManagedBlock* head = g_deferred.load(std::memory_order_relaxed);
  do {
    block->managed.manager_ctx = head;
  } while (!g_deferred.compare_exchange_weak(head, block, std::memory_order_release, std::memory_order_relaxed));
  // One callback frees all there is. While one is on its way, the list is not empty.
  if (head == nullptr) Py_AddPendingCall(&free_deferred_in_python, nullptr);
}

void free_deferred_now() noexcept {
  ManagedBlock* block = g_deferred.exchange(nullptr, std::memory_order_acquire);
  while (block != nullptr) {
    ManagedBlock* next = next_of(block);
    free_block(block);
    block = next;
  }
}

}  // namespace dlx

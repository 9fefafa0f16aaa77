// How often each function was called, and how often it did what was asked, for the report.
#ifndef DLX_TESTS_FUZZ_COUNTS_H_
#define DLX_TESTS_FUZZ_COUNTS_H_

#include <cstdint>

// sources.py has their names.
enum Operation { kImport, kBlock, kAllocate, kExport, kStream, kOperations };

struct Counts {
  uint64_t calls, accepted;
};

extern Counts g_counts[kOperations];

inline void count(Operation operation, bool accepted) {
  ++g_counts[operation].calls;
  if (accepted) ++g_counts[operation].accepted;
}

#endif  // DLX_TESTS_FUZZ_COUNTS_H_

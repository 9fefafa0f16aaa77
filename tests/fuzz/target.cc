// What the process calls: fuzz_start once, then inputs from libFuzzer or from a generator.
#include <dlfcn.h>

#include <random>
#include <vector>

#include "counts.h"
#include "host.h"
#include "operations.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

Host g_host;
Counts g_counts[kOperations];

EXPORTED void fuzz_start(const Host* host) { g_host = *host; }
EXPORTED const uint64_t* fuzz_counts() { return &g_counts[0].calls; }

// One input: a sequence of operations, so that each meets what the ones before have left.
EXPORTED int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  Reader reader(bytes, size);
  for (int i = 0; i < 16 && !reader.at_end(); ++i) {
    const uint8_t kind = reader.byte();
    if (kind < 128)
      import_foreign(reader);
    else if (kind < 192)
      import_block(reader);
    else if (kind < 224)
      allocate(reader);
    else if (kind < 240)
      export_object(reader);
    else
      ask_stream(reader);
  }
  return 0;
}

// `runs` inputs of random bytes.
EXPORTED void fuzz_random(uint64_t seed, uint64_t runs) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(256);
  for (uint64_t run = 0; run < runs; ++run) {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
}

// libFuzzer, whose library is loaded before the process begins. Ends the process; the counts are in the file `path` then, a line each.
EXPORTED void fuzz_guided(int argc, char** argv, const char* path) {
  using Driver = int (*)(int*, char***, int (*)(const uint8_t*, size_t));
  const auto drive = reinterpret_cast<Driver>(dlsym(RTLD_DEFAULT, "LLVMFuzzerRunDriver"));
  CHECK(drive != nullptr, ": start this process with libFuzzer in LD_PRELOAD");
  static const char* counts_path = path;
  std::atexit([] {
    std::FILE* file = std::fopen(counts_path, "w");
    for (const Counts& of : g_counts) {
      std::fprintf(file, "%llu %llu\n", static_cast<unsigned long long>(of.calls),
                   static_cast<unsigned long long>(of.accepted));
    }
    std::fclose(file);
  });
  std::exit(drive(&argc, &argv, &LLVMFuzzerTestOneInput));
}

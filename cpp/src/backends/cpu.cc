// Host memory only: there is no stream, and one device.
#include <c10/core/CPUAllocator.h>
#include <dlpack/dlpack.h>

#include "backends/backend.h"

namespace dlx {

namespace {

void* allocator() { return c10::GetCPUAllocator(); }

constexpr Backend make_backend() {
  Backend backend;
  backend.name = {"cpu"};
  backend.torch_device = static_cast<int32_t>(c10::DeviceType::CPU);
  backend.dl_device = kDLCPU;
  backend.allocator = &allocator;
  return backend;
}

}  // namespace

constexpr Backend kBackend = make_backend();

int32_t backend_device_count() { return 1; }

void* backend_stream(int32_t) { return nullptr; }

}  // namespace dlx

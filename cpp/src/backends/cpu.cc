// Host memory only: there is no stream, and one device.
#include "backends/backend.h"

#include <c10/core/CPUAllocator.h>
#include <dlpack/dlpack.h>

namespace dlx {

const Backend kBackend = {"cpu", static_cast<int32_t>(c10::DeviceType::CPU), kDLCPU, 0, 0};

int32_t backend_device_count() noexcept { return 1; }

void* backend_stream(int32_t) { return nullptr; }

c10::Allocator* backend_allocator() { return c10::GetCPUAllocator(); }

}  // namespace dlx

// Host memory only: there is no stream, and one device.
#include <c10/core/CPUAllocator.h>
#include <dlpack/dlpack.h>

#include "backends/backend.h"

namespace dlx {

const Backend kBackend = {
    "cpu", static_cast<int32_t>(c10::DeviceType::CPU), kDLCPU, 0, 0, &c10::GetCPUAllocator, nullptr, nullptr};

int32_t backend_device_count() { return 1; }

void* backend_stream(int32_t) { return nullptr; }

}  // namespace dlx

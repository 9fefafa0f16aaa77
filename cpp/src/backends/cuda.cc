// CUDA: everything comes from libc10_cuda; nothing of the CUDA runtime is linked.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <dlpack/dlpack.h>

#include "backends/backend.h"

namespace dlx {

static c10::Allocator* allocator() { return c10::cuda::CUDACachingAllocator::get(); }

const Backend kBackend = {
    "cuda", static_cast<int32_t>(c10::DeviceType::CUDA), kDLCUDA, 0, kDLCUDAManaged, &allocator, nullptr, nullptr};

int32_t backend_device_count() { return c10::cuda::device_count(); }

void* backend_stream(int32_t index) {
  return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).stream();
}

}  // namespace dlx

// CUDA: everything comes from libc10_cuda; nothing of the CUDA runtime is linked.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <dlpack/dlpack.h>

#include "backends/backend.h"

namespace dlx {

namespace {

void* allocator() { return c10::cuda::CUDACachingAllocator::get(); }

constexpr Backend make_backend() {
  Backend backend;
  backend.name = {"cuda"};
  backend.torch_device = static_cast<int32_t>(c10::DeviceType::CUDA);
  backend.fork_module = "torch._C";
  backend.fork_function = "_cuda_isInBadFork";
  backend.dl_device = kDLCUDA;
  backend.dl_managed_device = kDLCUDAManaged;
  backend.allocator = &allocator;
  return backend;
}

}  // namespace

constexpr Backend kBackend = make_backend();

int32_t backend_device_count() { return c10::cuda::device_count(); }

void* backend_stream(int32_t index) {
  return c10::cuda::getCurrentCUDAStream(static_cast<c10::DeviceIndex>(index)).stream();
}

}  // namespace dlx

// ROCm: a build whose tensors torch calls cuda and DLPack calls kDLROCM. Everything comes from libc10_hip; nothing of CUDA and
// nothing of HIP's runtime is linked.
//
// libc10_hip names its functions in one of two ways: c10::hip up to the first generation of PyTorch's hipify, c10::cuda in the
// second. The symbols of both are weak here, and whichever the loaded libc10_hip has is taken. Both generations return the
// stream as a c10::Stream in a class without virtual functions; HIPStream.h is included to check it where hipify still makes one.
#include <c10/core/Stream.h>
#include <dlpack/dlpack.h>

#include <stdexcept>
#include <type_traits>

#include "backends/backend.h"

#if DLX_TORCH_MINOR < 11
#include <c10/hip/HIPStream.h>
static_assert(sizeof(c10::hip::HIPStream) == sizeof(c10::Stream) && std::is_trivially_copyable_v<c10::hip::HIPStream>);
#endif

extern "C" {
[[gnu::weak]] c10::Stream dlx_hip_current(int8_t) __asm__("_ZN3c103hip19getCurrentHIPStreamEa");
[[gnu::weak]] void* dlx_hip_stream(const c10::Stream*) __asm__("_ZNK3c103hip9HIPStream6streamEv");
[[gnu::weak]] int8_t dlx_hip_count() __asm__("_ZN3c103hip12device_countEv");
[[gnu::weak]] c10::Stream dlx_hip2_current(int8_t) __asm__("_ZN3c104cuda20getCurrentCUDAStreamEa");
[[gnu::weak]] void* dlx_hip2_stream(const c10::Stream*) __asm__("_ZNK3c104cuda10CUDAStream6streamEv");
[[gnu::weak]] int8_t dlx_hip2_count() __asm__("_ZN3c104cuda12device_countEv");
}

namespace dlx {

namespace {

constexpr Backend make_backend() {
  Backend backend;
  backend.name = {"rocm"};
  backend.torch_device = static_cast<int32_t>(c10::DeviceType::CUDA);
  backend.fork_module = "torch._C";
  backend.fork_function = "_cuda_isInBadFork";
  backend.dl_device = kDLROCM;
  backend.dl_device_alias = kDLCUDA;
  return backend;
}

}  // namespace

constexpr Backend kBackend = make_backend();

int32_t backend_device_count() {
  if (dlx_hip_count != nullptr) return dlx_hip_count();
  if (dlx_hip2_count != nullptr) return dlx_hip2_count();
  throw std::runtime_error("libc10_hip exports neither c10::hip::device_count nor c10::cuda::device_count");
}

void* backend_stream(int32_t index) {
  const auto device = static_cast<int8_t>(index);
  if (dlx_hip_current != nullptr && dlx_hip_stream != nullptr) {
    const c10::Stream stream = dlx_hip_current(device);
    return dlx_hip_stream(&stream);
  }
  if (dlx_hip2_current != nullptr && dlx_hip2_stream != nullptr) {
    const c10::Stream stream = dlx_hip2_current(device);
    return dlx_hip2_stream(&stream);
  }
  throw std::runtime_error(
      "libc10_hip exports neither c10::hip::getCurrentHIPStream nor c10::cuda::getCurrentCUDAStream");
}

}  // namespace dlx

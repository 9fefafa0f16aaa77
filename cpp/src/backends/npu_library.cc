#include "backends/npu_library.h"

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>

#include "glibc.h"
#include "likely.h"
#include "settings.h"

namespace dlx {

namespace {

template <typename Pointer>
void bind(void* library, const char* name, Pointer* pointer) {
  void* address = dlsym(library, name);
  if (address == nullptr)
    throw std::runtime_error(std::string("this libtorch_npu does not export ") + name +
                             ": install a torch_npu that fits this torch");
  *pointer = reinterpret_cast<Pointer>(address);
}

void bind_all(NpuLibrary* bound) {
  void* library = dlopen("libtorch_npu.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) throw std::runtime_error("libtorch_npu is not loaded: import torch_npu first");
  bind(library, "_ZN7c10_npu12device_countEv", &bound->device_count);
  bind(library, "_ZN7c10_npu9GetDeviceEPi", &bound->get_device);
  bind(library, "_ZN7c10_npu9SetDeviceEa", &bound->set_device);
  bind(library, "_ZN7c10_npu19getCurrentNPUStreamEa", &bound->current_stream);
  bind(library, "_ZNK7c10_npu9NPUStream6streamEv", &bound->drained);
  bind(library, "_ZNK7c10_npu9NPUStream6streamEb", &bound->undrained);
  bind(library,
       "_ZN6at_npu6native9from_blobEPvN3c108ArrayRefIlEES4_lRKSt8functionIFvS1_EERKNS2_13TensorOptionsESt8optionalINS2_"
       "6DeviceEE",
       &bound->from_blob);
  bind(library, "_ZN6at_npu6native14get_npu_formatERKN2at6TensorE", &bound->format);
}

}  // namespace

// Threads that come at the same time all look the names up: waiting for another thread in the loader could be a circle.
const NpuLibrary& npu_library() {
  static NpuLibrary bound;
  static std::atomic<int> state{0};  // 0: nothing is bound, 1: a thread writes `bound`, 2: it is written
  if (DLX_LIKELY(state.load(std::memory_order_acquire) == 2)) return bound;
  NpuLibrary found;
  bind_all(&found);
  int expected = 0;
  if (state.compare_exchange_strong(expected, 1, std::memory_order_acq_rel)) {
    bound = found;
    state.store(2, std::memory_order_release);
  }
  while (state.load(std::memory_order_acquire) != 2) {
  }
  return bound;
}

namespace {

// Makes a device current for as long as it lives. Asks and changes nothing more where it is current already.
class CurrentNpu {
 public:
  CurrentNpu(const NpuLibrary& library, int32_t index) : library_(library) {
    if (library.get_device(&former_) != 0) former_ = index;
    changed_ = former_ != index && library.set_device(static_cast<int8_t>(index)) == 0;
  }
  ~CurrentNpu() {
    if (changed_) library_.set_device(static_cast<int8_t>(former_));
  }
  CurrentNpu(const CurrentNpu&) = delete;
  CurrentNpu& operator=(const CurrentNpu&) = delete;

 private:
  const NpuLibrary& library_;
  int32_t former_ = 0;
  bool changed_ = false;
};

// NULL where the host queue has failed.
void* current_stream(const NpuLibrary& library, int32_t index) {
  static Switch drain("DLX_TORCH_NPU_DRAIN", true);
  const NpuStream current = library.current_stream(static_cast<int8_t>(index));
  if (!drain.is_on()) return library.undrained(&current, false);
  const CurrentNpu guard(library, index);
  return library.drained(&current);
}

}  // namespace

void* npu_stream(int32_t index, void (*initialize)(int32_t index)) {
  const NpuLibrary& library = npu_library();
  static std::atomic<uint64_t> initialized[2] = {{0}, {0}};  // a bit for each device: a c10::DeviceIndex counts 128
  std::atomic<uint64_t>& word = initialized[(index >> 6) & 1];
  const uint64_t bit = uint64_t{1} << (index & 63);
  if ((word.load(std::memory_order_relaxed) & bit) == 0) {
    initialize(index);
    word.fetch_or(bit, std::memory_order_relaxed);
  }
  void* stream = current_stream(library, index);
  if (stream == nullptr) {
    throw std::runtime_error(
        "the host task queue of the NPU has failed, so there is no stream: torch.npu.synchronize() tells why");
  }
  return stream;
}

}  // namespace dlx

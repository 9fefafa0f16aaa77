// libtorch_npu, bound by name when first needed: it is never linked and never imported, only looked for among what the process
// has loaded. No torch header here, so that the overlay can share it.
#ifndef DLX_BACKENDS_NPU_LIBRARY_H_
#define DLX_BACKENDS_NPU_LIBRARY_H_

#include <cstdint>

namespace dlx {

// c10_npu::NPUStream. It has a destructor of its own, so the ABI returns it through memory that the caller names; declaring a
// class with a destructor is what makes the compiler do so here, on every architecture. It holds a c10::Stream (16 bytes).
struct NpuStream {
  ~NpuStream() {}
  uint64_t storage[8];
};

struct NpuLibrary {
  int8_t (*device_count)();                   // c10_npu::device_count()
  int (*get_device)(int32_t* index);          // c10_npu::GetDevice: the calling thread's current device; 0 on success
  int (*set_device)(int8_t index);            // c10_npu::SetDevice
  NpuStream (*current_stream)(int8_t index);  // c10_npu::getCurrentNPUStream
  void* (*drained)(const NpuStream* stream);  // NPUStream::stream(): waits for the host queue; NULL if that fails
  void* (*undrained)(const NpuStream* stream, bool);  // NPUStream::stream(false): does not wait
  void* from_blob;                                    // at_npu::native::from_blob with strides, offset and deleter
  int64_t (*format)(const void* tensor);              // at_npu::native::get_npu_format(at::Tensor const&)
};

// Throws std::runtime_error while libtorch_npu is not loaded, or where it lacks one of the names. Any thread.
const NpuLibrary& npu_library();

// The calling thread's current stream on device `index`, in range. Drains the device's host queue unless DLX_TORCH_NPU_DRAIN was off in
// the environment at the first call (settings.h); torch_npu waits for the current device's queue, so `index` is current while it does, and the
// former device again afterwards. Throws std::runtime_error where the queue has failed, or whatever torch_npu throws of it.
//
// torch_npu creates a device's default stream with the first memory on it; before, it answers NULL or throws, by release. So the first
// call for a device calls `initialize`, which allocates some.
void* npu_stream(int32_t index, void (*initialize)(int32_t index));

// Whether an aclFormat lays elements out as sizes and strides say: NCHW, NHWC, ND, NCDHW (acl/acl_base.h).
inline bool is_plain_npu_format(int64_t format) { return format == 0 || format == 1 || format == 2 || format == 30; }

}  // namespace dlx

#endif  // DLX_BACKENDS_NPU_LIBRARY_H_

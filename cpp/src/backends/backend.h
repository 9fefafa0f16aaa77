// What the core asks of an accelerator: its names, its current stream, its memory. One file of this folder defines it for a
// library; the others are not in it.
#ifndef DLX_BACKENDS_BACKEND_H_
#define DLX_BACKENDS_BACKEND_H_

#include <cstdint>

namespace dlx {

class OpaqueTensor;

// A name inside the struct, so that its address is known when the library is linked and nothing is set up at run time.
struct BackendName {
  char text[12];
};

struct Backend {
  BackendName name = {};        // "cpu", "cuda", "rocm", "torch_npu"
  int32_t torch_device = 0;     // c10::DeviceType of its tensors
  int32_t dl_device = 0;        // DLDeviceType of its tensors
  int32_t dl_device_alias = 0;  // a DLDeviceType of others for the same memory, which import and stream take too, or 0
  int32_t dl_device_new_name = 0;  // DLPack's newer name for dl_device, which is taken wherever that is, or 0
  // The module of torch's that says whether this process was forked after its parent had used the device; NULL where the device
  // survives a fork. It has a function for that, or, with no function, the number of the process that has used the device, or 0.
  const char* fork_module = nullptr;
  const char* fork_function = nullptr;
  const char* fork_user = nullptr;
  int32_t dl_managed_device = 0;  // DLDeviceType of memory that host and device share, or 0

  // The allocator of torch's own tensors on this device: the address of a c10::Allocator. NULL where only torch's dispatcher makes a storage of the right class.
  void* (*allocator)() = nullptr;

  // The address of this accelerator's own from_blob (torch_tensor.cc has its type). NULL where a storage of c10's class serves.
  void* (*from_blob)() = nullptr;

  // Whether the memory of a tensor on this device is what its sizes and strides say. NULL where it always is.
  bool (*has_plain_format)(const OpaqueTensor* tensor) = nullptr;
};

extern const Backend kBackend;

// How many devices there are; 0 without a driver. The first call may ask the driver, later ones do not. May throw.
int32_t backend_device_count();

// The calling thread's current stream on device `index`, which the caller has checked to be in range. May throw.
void* backend_stream(int32_t index);

}  // namespace dlx

#endif  // DLX_BACKENDS_BACKEND_H_

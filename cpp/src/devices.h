// The map between torch's devices and DLPack's, in both directions.
#ifndef DLX_DEVICES_H_
#define DLX_DEVICES_H_

#include <dlpack/dlpack.h>

#include <cstdint>

#include "backends/backend.h"
#include "errors.h"

namespace dlx {

// c10::DeviceType's numbers (c10/core/DeviceType.h, append-only); torch_tensor.cc asserts them.
enum TorchDevice : int32_t {
  kTorchCPU = 0,
  kTorchCUDA = 1,
  kTorchOpenCL = 4,
  kTorchHIP = 6,
  kTorchMAIA = 8,
  kTorchXPU = 12,
  kTorchMPS = 13,
  kTorchPrivateUse1 = 20,
};

// The DLDeviceType of a torch device that is neither the host nor the build's own accelerator, named as torch's own table
// names it; 0 where DLPack has no name.
inline int32_t other_device_to_dl(int32_t torch_device) {
  switch (torch_device) {
    case kTorchOpenCL: return kDLOpenCL;
    case kTorchHIP: return kDLROCM;
    case kTorchMAIA: return kDLMAIA;
    case kTorchXPU: return kDLOneAPI;
    case kTorchMPS: return kDLMetal;
    case kTorchPrivateUse1: return kDLExtDev;
    default: return 0;
  }
}

// Whether the build's own accelerator is exported under its newer name. Set before the table is handed out, and never changed after.
extern bool g_exports_new_name;

// Sets it from the environment: DLX_TORCH_NPU_DEVICE_TYPE.
void read_device_name();

inline int32_t device_to_dl(int32_t torch_device) {
  if (torch_device == kTorchCPU) return kDLCPU;
  if (torch_device == kBackend.torch_device) {
    return kBackend.dl_device_new_name != 0 && g_exports_new_name ? kBackend.dl_device_new_name : kBackend.dl_device;
  }
  return other_device_to_dl(torch_device);
}

// Whether a tensor on this torch device may be named so: as it is exported, or by its other name.
inline bool is_name_of(int32_t torch_device, int32_t dl_device) {
  if (kBackend.dl_device_new_name == 0 || torch_device != kBackend.torch_device)
    return device_to_dl(torch_device) == dl_device;
  return dl_device == kBackend.dl_device || dl_device == kBackend.dl_device_new_name;
}

// Memory that the host reads and writes as its own: a CPU tensor, whoever pinned it.
inline bool is_host_memory(int32_t dl_device) {
  return dl_device == kDLCPU || dl_device == kDLCUDAHost || dl_device == kDLROCMHost;
}

// Memory of the build's own accelerator. Never true for the cpu backend, whose device is the host.
inline bool is_own_accelerator(int32_t dl_device) {
  if (kBackend.torch_device == kTorchCPU || dl_device == 0) return false;
  return dl_device == kBackend.dl_device || dl_device == kBackend.dl_device_alias ||
         dl_device == kBackend.dl_device_new_name || dl_device == kBackend.dl_managed_device;
}

// DLPack's spelling of a device type, "unknown" where it has none.
const char* dl_device_name(int32_t dl_device);

// Where memory described by `device` lives in torch: *torch_device and *index (0 for the host).
bool device_from_dl(DLDevice device, int32_t* torch_device, int32_t* index, Error* error);

// false with `kind` unless 0 <= index < device count of the build's own accelerator.
bool check_device_index(int32_t dl_device, int32_t index, ErrorKind kind, Error* error);

}  // namespace dlx

#endif  // DLX_DEVICES_H_

#include "devices.h"

#include <cstdlib>

#include "dl_numbers.h"
#include "settings.h"

namespace dlx {

bool g_exports_new_name = false;

void read_device_name() {
  if (kBackend.dl_device_new_name == 0) return;
  const char* value = std::getenv("DLX_TORCH_NPU_DEVICE_TYPE");
  g_exports_new_name = value != nullptr && says_one_of(value, {"ascend"});
}

const char* dl_device_name(int32_t dl_device) {
  switch (dl_device) {
    case kDLCPU: return "kDLCPU";
    case kDLCUDA: return "kDLCUDA";
    case kDLCUDAHost: return "kDLCUDAHost";
    case kDLOpenCL: return "kDLOpenCL";
    case kDLVulkan: return "kDLVulkan";
    case kDLMetal: return "kDLMetal";
    case kDLVPI: return "kDLVPI";
    case kDLROCM: return "kDLROCM";
    case kDLROCMHost: return "kDLROCMHost";
    case kDLExtDev: return "kDLExtDev";
    case kDLCUDAManaged: return "kDLCUDAManaged";
    case kDLOneAPI: return "kDLOneAPI";
    case kDLWebGPU: return "kDLWebGPU";
    case kDLHexagon: return "kDLHexagon";
    case kDLMAIA: return "kDLMAIA";
    case kDLTrn: return "kDLTrn";
    case kDLTPU: return "kDLTPU";
    case kDLTPUHost: return "kDLTPUHost";
    case kDLAscend: return "kDLAscend";
    default: return "unknown";
  }
}

bool check_device_index(int32_t dl_device, int32_t index, ErrorKind kind, Error* error) {
  const int32_t count = backend_device_count();
  if (index >= 0 && index < count) return true;
  return error->set(kind, "there is no device %s:%d: this torch sees %d such device%s, numbered from 0",
                    dl_device_name(dl_device), index, count, count == 1 ? "" : "s");
}

bool device_from_dl(DLDevice device, int32_t* torch_device, int32_t* index, Error* error) {
  if (is_host_memory(device.device_type)) {
    *torch_device = kTorchCPU;
    *index = 0;
    return true;
  }
  if (!is_own_accelerator(device.device_type)) {
    return error->set(ErrorKind::kBufferError,
                      "this torch's %s build has no tensors on device type %s (%d): copy the data to %s first",
                      kBackend.name.text, dl_device_name(device.device_type), static_cast<int>(device.device_type),
                      dl_device_name(kBackend.dl_device));
  }
  *torch_device = kBackend.torch_device;
  *index = device.device_id;
  return check_device_index(device.device_type, device.device_id, ErrorKind::kBufferError, error);
}

}  // namespace dlx

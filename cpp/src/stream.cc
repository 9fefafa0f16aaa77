// The calling thread's current stream on a device, asked of torch each time.
//
// NULL for host memory and Metal, which have no stream. RuntimeError, never NULL, for a device that this build cannot answer:
// a wrong NULL is the default stream, and a silent race. *out is written on success only.
#include "devices.h"
#include "functions.h"

namespace dlx {

[[gnu::cold, gnu::noinline]] static bool refuse(int32_t device_type, int32_t device_id, Error* error) {
  if (is_own_accelerator(device_type))
    return check_device_index(device_type, device_id, ErrorKind::kRuntimeError, error);
  return error->set(ErrorKind::kRuntimeError, "the %s library for torch knows no stream of device type %s (%d)",
                    kBackend.name, dl_device_name(device_type), static_cast<int>(device_type));
}

int current_work_stream(DLDeviceType device_type, int32_t device_id, void** out_current_stream) noexcept {
  Error error;
  try {
    if (is_own_accelerator(device_type) && device_id >= 0 && device_id < backend_device_count()) {
      *out_current_stream = backend_stream(device_id);
      return 0;
    }
    if (is_host_memory(device_type) || device_type == kDLMetal) {
      *out_current_stream = nullptr;
      return 0;
    }
    refuse(device_type, device_id, &error);
  } catch (...) {
    error.set_from_exception(ErrorKind::kRuntimeError);
  }
  return raise(error);
}

}  // namespace dlx

// The calling thread's current stream on a device, asked of torch each time.
//
// NULL for host memory and Metal, which have no stream. RuntimeError, never NULL, for a device that this build cannot answer:
// a wrong NULL is the default stream, and a silent race. *out is written on success only.
#include "devices.h"
#include "forks.h"
#include "functions.h"

namespace dlx {

namespace {

[[gnu::cold, gnu::noinline]] bool refuse_stream(int32_t device_type, int32_t device_id, Error* error) {
  if (is_own_accelerator(device_type))
    return check_device_index(device_type, device_id, ErrorKind::kRuntimeError, error);
  return error->set(
      ErrorKind::kRuntimeError,
      "cannot tell the stream of device type %s (%d): this library is for torch's %s build, `dlx-torch doctor` "
      "says more",
      dl_device_name(device_type), static_cast<int>(device_type), kBackend.name.text);
}

}  // namespace

int current_work_stream(DLDeviceType device_type, int32_t device_id, void** out_current_stream) noexcept {
  Error error;
  try {
    if (is_own_accelerator(device_type) && device_id >= 0 && device_id < backend_device_count()) {
      if (check_fork(&error)) {
        *out_current_stream = backend_stream(device_id);
        return 0;
      }
      return set_python_error(error);
    }
    if (is_host_memory(device_type) || device_type == kDLMetal) {
      *out_current_stream = nullptr;
      return 0;
    }
    refuse_stream(device_type, device_id, &error);
  } catch (...) {
    error.set_from_exception(ErrorKind::kRuntimeError);
  }
  return set_python_error(error);
}

}  // namespace dlx

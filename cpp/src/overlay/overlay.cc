// The table for a torch that has one already and runs on Ascend: torch's own five functions, with the stream and the import replaced for
// the NPU, and its newer name taken. Export is torch's pointer itself, so it costs nothing and changes nothing, unless the newer name was
// asked for.
//
// No torch header and no torch symbol is used, so that one library serves torch 2.10 and whatever comes.
#include <dlx/dlx_torch.h>

#include <atomic>

#include "backends/backend.h"
#include "backends/npu_library.h"
#include "devices.h"
#include "dl_numbers.h"
#include "errors.h"
#include "forks.h"
#include "incoming.h"
#include "overlay/npu_tensor.h"

namespace dlx {

namespace {

constexpr Backend make_backend() {
  Backend backend;
  backend.name = {"torch_npu"};
  backend.torch_device = kTorchPrivateUse1;
  backend.fork_module = "torch_npu.npu";
  backend.fork_user = "_original_pid";  // its function for that notices only the children of multiprocessing
  backend.dl_device = kDLExtDev;
  backend.dl_device_new_name = kDLAscend;
  return backend;
}

}  // namespace

constexpr Backend kBackend = make_backend();

int32_t backend_device_count() { return npu_library().device_count(); }

namespace {

const DLPackExchangeAPI* g_upstream = nullptr;

// Through torch's own allocator, which is the one way here without a symbol of torch.
void initialize_npu(int32_t index) {
  int64_t one = 1;
  DLTensor prototype = {nullptr, {kDLExtDev, index}, 1, {kDLUInt, 8, 1}, &one, nullptr, 0};
  DLManagedTensorVersioned* made = nullptr;
  const auto ignore = [](void*, const char*, const char*) {};
  if (g_upstream->managed_tensor_allocator(&prototype, &made, nullptr, ignore) == 0) made->deleter(made);
}

void export_new_name(DLDevice* device) {
  if (device->device_type == kDLExtDev) device->device_type = static_cast<DLDeviceType>(kDLAscend);
}

int dltensor_by_new_name(void* py_object, DLTensor* out) noexcept {
  const int rc = g_upstream->dltensor_from_py_object_no_sync(py_object, out);
  if (rc == 0) export_new_name(&out->device);
  return rc;
}

int managed_tensor_by_new_name(void* py_object, DLManagedTensorVersioned** out) noexcept {
  const int rc = g_upstream->managed_tensor_from_py_object_no_sync(py_object, out);
  if (rc == 0) export_new_name(&(*out)->dl_tensor.device);
  return rc;
}

int managed_tensor_allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                             void (*SetError)(void* error_ctx, const char* kind, const char* message)) noexcept {
  if (prototype == nullptr || prototype->device.device_type != static_cast<DLDeviceType>(kDLAscend))
    return g_upstream->managed_tensor_allocator(prototype, out, error_ctx, SetError);
  DLTensor asked = *prototype;
  asked.device.device_type = kDLExtDev;
  const int rc = g_upstream->managed_tensor_allocator(&asked, out, error_ctx, SetError);
  if (rc == 0) export_new_name(&(*out)->dl_tensor.device);
  return rc;
}

int current_work_stream(DLDeviceType device_type, int32_t device_id, void** out_current_stream) noexcept {
  if (!is_own_accelerator(device_type))
    return g_upstream->current_work_stream(device_type, device_id, out_current_stream);
  Error error;
  try {
    if (check_fork(&error) && check_device_index(device_type, device_id, ErrorKind::kRuntimeError, &error)) {
      *out_current_stream = npu_stream(device_id, &initialize_npu);
      return 0;
    }
  } catch (...) {
    error.set_from_exception(ErrorKind::kRuntimeError);
  }
  return set_python_error(error);
}

int managed_tensor_to_py_object_no_sync(DLManagedTensorVersioned* managed, void** out_py_object) noexcept {
  if (managed == nullptr || managed->version.major != DLPACK_MAJOR_VERSION ||
      !is_own_accelerator(managed->dl_tensor.device.device_type)) {
    return g_upstream->managed_tensor_to_py_object_no_sync(managed, out_py_object);
  }
  Error error;
  try {
    Geometry geometry;
    char* data = nullptr;
    int64_t bytes = 0;
    if (check_incoming(managed, &geometry, &data, &bytes, &error) &&
        device_from_dl(managed->dl_tensor.device, &geometry.torch_device, &geometry.device_index, &error)) {
      void* tensor = make_npu_tensor(*g_upstream, managed, data, geometry, &error);
      if (tensor != nullptr) {
        *out_py_object = tensor;
        return 0;
      }
    }
  } catch (...) {
    error.set_from_exception(ErrorKind::kRuntimeError);
  }
  return set_python_error(error);
}

}  // namespace
}  // namespace dlx

const DLXTorchBuildInfo* dlx_torch_build_info(void) {
  static const DLXTorchBuildInfo info = {
      sizeof(DLXTorchBuildInfo), DLX_TORCH_ABI,       dlx::kBackend.name.text, DLX_VERSION, 0, 0, 1,
      DLPACK_MAJOR_VERSION,      DLPACK_MINOR_VERSION};
  return &info;
}

const DLPackExchangeAPI* dlx_torch_overlay(const DLPackExchangeAPI* upstream) {
  static DLPackExchangeAPI table;
  static std::atomic<bool> made{false};
  if (upstream == nullptr || upstream->header.version.major != DLPACK_MAJOR_VERSION) return nullptr;
  // A consumer may be reading the table, so it is written once. The caller makes the first call before any other ends.
  if (made.load(std::memory_order_acquire)) return dlx::g_upstream == upstream ? &table : nullptr;
  dlx::g_upstream = upstream;
  table = *upstream;
  table.header.prev_api = nullptr;
  table.managed_tensor_to_py_object_no_sync = &dlx::managed_tensor_to_py_object_no_sync;
  table.current_work_stream = &dlx::current_work_stream;
  table.managed_tensor_allocator = &dlx::managed_tensor_allocator;
  dlx::read_device_name();
  if (dlx::g_exports_new_name) {
    // dlpack.h lets this one be NULL.
    if (upstream->dltensor_from_py_object_no_sync != nullptr)
      table.dltensor_from_py_object_no_sync = &dlx::dltensor_by_new_name;
    table.managed_tensor_from_py_object_no_sync = &dlx::managed_tensor_by_new_name;
  }
  dlx::watch_forks();
  made.store(true, std::memory_order_release);
  return &table;
}

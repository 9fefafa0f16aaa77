// What the library exports: its identity, and the table that names the five functions.
#include <dlx/dlx_torch.h>

#include "backends/backend.h"
#include "devices.h"
#include "forks.h"
#include "functions.h"
#include "torch_tensor.h"

namespace {

constexpr DLPackExchangeAPI kTable = {
    {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
    &dlx::managed_tensor_allocator,
    &dlx::managed_tensor_from_py_object_no_sync,
    &dlx::managed_tensor_to_py_object_no_sync,
    &dlx::dltensor_from_py_object_no_sync,
    &dlx::current_work_stream,
};

}  // namespace

const DLXTorchBuildInfo* dlx_torch_build_info(void) {
  static const DLXTorchBuildInfo info = {
      sizeof(DLXTorchBuildInfo), DLX_TORCH_ABI, dlx::kBackend.name.text, DLX_VERSION,          DLX_TORCH_MAJOR,
      DLX_TORCH_MINOR,           DLX_CXX11_ABI, DLPACK_MAJOR_VERSION,    DLPACK_MINOR_VERSION,
  };
  return &info;
}

const char* dlx_torch_built_for(void) { return DLX_BUILT_FOR; }

const DLPackExchangeAPI* dlx_torch_exchange_api(uint32_t pyobject_size) {
  // PyObject is a reference count and a type: 16 bytes with the GIL, 32 without; its size is a multiple of a pointer's.
  if (pyobject_size < 2 * sizeof(void*) || pyobject_size > 256 || pyobject_size % sizeof(void*) != 0) return nullptr;
  if (dlx::g_pyobject_size != 0 && dlx::g_pyobject_size != pyobject_size) return nullptr;
  if (dlx::g_pyobject_size == 0) dlx::read_device_name();
  dlx::g_pyobject_size = pyobject_size;
  dlx::watch_forks();
  return &kTable;
}

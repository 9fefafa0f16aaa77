// Ascend through torch_npu: streams, storage and layouts come from the libtorch_npu that the process has loaded.
#include <ATen/core/Tensor.h>
#include <dlpack/dlpack.h>

#include "backends/backend.h"
#include "backends/npu_library.h"
#include "torch_tensor.h"

namespace dlx {

static void* from_blob() { return npu_library().from_blob; }

static bool has_plain_layout(const at::Tensor& tensor) { return is_plain_npu_format(npu_library().format(&tensor)); }

const Backend kBackend = {
    "torch_npu",      static_cast<int32_t>(c10::DeviceType::PrivateUse1), kDLExtDev, 0, 0, nullptr, &from_blob,
    &has_plain_layout};

int32_t backend_device_count() { return npu_library().device_count(); }

static void use_device(int32_t index) { use_memory(kBackend.torch_device, index); }

void* backend_stream(int32_t index) { return npu_stream(index, &use_device); }

}  // namespace dlx

// Ascend through torch_npu: streams, storage and layouts come from the libtorch_npu that the process has loaded.
#include <dlpack/dlpack.h>

#include "backends/backend.h"
#include "backends/npu_library.h"
#include "devices.h"
#include "dl_numbers.h"
#include "torch_tensor.h"

namespace dlx {

namespace {

void* from_blob() { return npu_library().from_blob; }

// An at::Tensor is one pointer to its TensorImpl, so a variable that holds the pointer can stand for one that nobody owns.
bool has_plain_format(TensorRef tensor) { return is_plain_npu_format(npu_library().format(&tensor)); }

void initialize_npu(int32_t index) { initialize_device(kTorchPrivateUse1, index); }

constexpr Backend make_backend() {
  Backend backend;
  backend.name = {"torch_npu"};
  backend.torch_device = kTorchPrivateUse1;
  backend.fork_module = "torch_npu.npu";
  backend.fork_user = "_original_pid";  // its function for that notices only the children of multiprocessing
  backend.dl_device = kDLExtDev;
  backend.dl_device_new_name = kDLAscend;
  backend.from_blob = &from_blob;
  backend.has_plain_format = &has_plain_format;
  return backend;
}

}  // namespace

constexpr Backend kBackend = make_backend();

int32_t backend_device_count() { return npu_library().device_count(); }

void* backend_stream(int32_t index) { return npu_stream(index, &initialize_npu); }

}  // namespace dlx

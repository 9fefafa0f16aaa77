// An NPU tensor on somebody else's memory, made by torch_npu's own from_blob without any header of torch.
#ifndef DLX_OVERLAY_NPU_TENSOR_H_
#define DLX_OVERLAY_NPU_TENSOR_H_

#include <dlpack/dlpack.h>

#include "errors.h"
#include "geometry.h"

namespace dlx {

// A new reference to a torch.Tensor at `data` that owns `managed`. NULL with *error set, or throws; then the caller still owns
// `managed`. Needs the GIL. What came out is described back by `upstream`'s export and compared, since the types that from_blob takes
// are known here by their layout only.
void* make_npu_tensor(const DLPackExchangeAPI& upstream, DLManagedTensorVersioned* managed, void* data,
                      const Geometry& geometry, Error* error);

}  // namespace dlx

#endif  // DLX_OVERLAY_NPU_TENSOR_H_

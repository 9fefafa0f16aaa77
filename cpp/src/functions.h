// The five functions of DLPack's exchange API for torch.Tensor, under the names of DLPackExchangeAPI's members. The contract
// of each is dlpack.h's; what is refused, and how, stands at its definition. None lets a C++ exception out.
#ifndef DLX_FUNCTIONS_H_
#define DLX_FUNCTIONS_H_

#include <dlpack/dlpack.h>

namespace dlx {

int dltensor_from_py_object_no_sync(void* py_object, DLTensor* out) noexcept;
int managed_tensor_from_py_object_no_sync(void* py_object, DLManagedTensorVersioned** out) noexcept;
int managed_tensor_to_py_object_no_sync(DLManagedTensorVersioned* managed, void** out_py_object) noexcept;
int managed_tensor_allocator(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                             void (*SetError)(void* error_ctx, const char* kind, const char* message)) noexcept;
int current_work_stream(DLDeviceType device_type, int32_t device_id, void** out_current_stream) noexcept;

}  // namespace dlx

#endif  // DLX_FUNCTIONS_H_

// A consumer that uses tvm-ffi. It asks the environment what a library of kernels asks for the tensors of a call.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

namespace ffi = tvm::ffi;

static ffi::Tensor allocate_like(ffi::TensorView like) {
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, like.shape(), like.dtype(), like.device());
}

static int64_t allocator_for(ffi::TensorView) {
  return reinterpret_cast<int64_t>(TVMFFIEnvGetDLPackManagedTensorAllocator());
}

static int64_t stream_for(ffi::TensorView x) {
  return reinterpret_cast<int64_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
}

static int64_t address_of(ffi::TensorView x) { return reinterpret_cast<int64_t>(x.data_ptr()) + x.byte_offset(); }

TVM_FFI_DLL_EXPORT_TYPED_FUNC(allocate_like, allocate_like)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(allocator_for, allocator_for)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(stream_for, stream_for)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(address_of, address_of)

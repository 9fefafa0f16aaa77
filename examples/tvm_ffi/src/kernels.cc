// saxpy and a softmax of rows on the CPU, for apache-tvm-ffi. It knows nothing of DLPack's table: tvm-ffi reads it.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cmath>

namespace ffi = tvm::ffi;

static void require(const ffi::TensorView& tensor, const char* name, int ndim) {
  const DLDataType dtype = tensor.dtype();
  if (tensor.device().device_type != kDLCPU) TVM_FFI_THROW(ValueError) << name << ": the CPU is needed";
  if (dtype.code != kDLFloat || dtype.bits != 32 || dtype.lanes != 1) {
    TVM_FFI_THROW(TypeError) << name << ": float32 is needed";
  }
  if (tensor.ndim() != ndim) {
    TVM_FFI_THROW(ValueError) << name << ": has " << tensor.ndim() << " dimensions; " << ndim << " are needed";
  }
  if (!tensor.IsContiguous()) TVM_FFI_THROW(ValueError) << name << ": is not contiguous";
}

static void require_like(const ffi::TensorView& tensor, const char* name, const ffi::TensorView& like) {
  require(tensor, name, like.ndim());
  if (!std::equal(tensor.shape().begin(), tensor.shape().end(), like.shape().begin())) {
    TVM_FFI_THROW(ValueError) << name << ": has another shape than argument 'x'";
  }
}

// A new tensor of the framework that the arguments come from: tvm-ffi asks the table's allocator.
static ffi::Tensor empty_like(const ffi::TensorView& like) {
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, like.shape(), like.dtype(), like.device());
}

static void saxpy_into(double a, ffi::TensorView x, ffi::TensorView y, ffi::TensorView out) {
  require(x, "saxpy: argument 'x'", 1);
  require_like(y, "saxpy: argument 'y'", x);
  require_like(out, "saxpy: argument 'out'", x);
  const auto *from_x = static_cast<const float*>(x.data_ptr()), *from_y = static_cast<const float*>(y.data_ptr());
  auto* to = static_cast<float*>(out.data_ptr());
  for (int64_t i = 0; i < x.size(0); ++i) to[i] = static_cast<float>(a) * from_x[i] + from_y[i];
}

static void softmax_row(const float* from, float* to, int64_t count) {
  const float largest = count != 0 ? *std::max_element(from, from + count) : 0;
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += to[i] = std::exp(from[i] - largest);
  for (int64_t i = 0; i < count; ++i) to[i] /= sum;
}

static void softmax_into(ffi::TensorView x, ffi::TensorView out) {
  require(x, "softmax: argument 'x'", 2);
  require_like(out, "softmax: argument 'out'", x);
  const auto* from = static_cast<const float*>(x.data_ptr());
  auto* to = static_cast<float*>(out.data_ptr());
  for (int64_t at = 0; at < x.size(0) * x.size(1); at += x.size(1)) softmax_row(from + at, to + at, x.size(1));
}

static ffi::Tensor saxpy(double a, ffi::TensorView x, ffi::TensorView y) {
  require(x, "saxpy: argument 'x'", 1);
  ffi::Tensor out = empty_like(x);
  saxpy_into(a, x, y, out);
  return out;
}

static ffi::Tensor softmax(ffi::TensorView x) {
  require(x, "softmax: argument 'x'", 2);
  ffi::Tensor out = empty_like(x);
  softmax_into(x, out);
  return out;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(saxpy, saxpy)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(saxpy_into, saxpy_into)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(softmax, softmax)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(softmax_into, softmax_into)

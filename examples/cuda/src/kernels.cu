#include <algorithm>

#include "launch.h"

// The memory's device is the current one while this lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    error_ = cudaGetDevice(&before_);
    if (error_ == cudaSuccess && device != before_) error_ = cudaSetDevice(device);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() {
    if (error_ == cudaSuccess) cudaSetDevice(before_);
  }
  bool failed() const { return error_ != cudaSuccess; }
  const char* text() const { return cudaGetErrorString(error_); }

 private:
  int before_ = 0;
  cudaError_t error_;
};

static const char* launched() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

static __global__ void saxpy(float a, const float* x, const float* y, float* out, int64_t count) {
  for (int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; i < count; i += int64_t{gridDim.x} * blockDim.x) {
    out[i] = a * x[i] + y[i];
  }
}

const char* launch_saxpy(int device, CUstream_st* stream, float a, const float* x, const float* y, float* out,
                         int64_t count) {
  if (count == 0) return nullptr;
  OnDevice there(device);
  if (there.failed()) return there.text();
  const auto blocks = static_cast<unsigned>(std::min<int64_t>((count + 255) / 256, 4096));
  saxpy<<<blocks, 256, 0, stream>>>(a, x, y, out, count);
  return launched();
}

// One warp for each row.
static __global__ void softmax(const float* x, float* out, int64_t columns) {
  const float* from = x + blockIdx.x * columns;
  float* to = out + blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += 32) largest = fmaxf(largest, from[i]);
  for (int step = 16; step > 0; step /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xFFFFFFFF, largest, step));
  for (int64_t i = threadIdx.x; i < columns; i += 32) sum += to[i] = expf(from[i] - largest);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xFFFFFFFF, sum, step);
  for (int64_t i = threadIdx.x; i < columns; i += 32) to[i] /= sum;
}

const char* launch_softmax(int device, CUstream_st* stream, const float* x, float* out, int64_t rows, int64_t columns) {
  if (rows == 0 || columns == 0) return nullptr;
  if (rows > INT32_MAX) return "a launch has at most 2147483647 rows";
  OnDevice there(device);
  if (there.failed()) return there.text();
  softmax<<<static_cast<unsigned>(rows), 32, 0, stream>>>(x, out, columns);
  return launched();
}

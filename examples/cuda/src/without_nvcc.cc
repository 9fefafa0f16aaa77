// In place of kernels.cu where there is no nvcc: a device that is simulated has memory of the host, and this notes the
// launches for the tests.
#include <cmath>
#include <cstdio>

#include "launch.h"

static void note(const char* kernel, int device, const CUstream_st* stream) {
  std::fprintf(stderr, "%s on device %d, stream %p\n", kernel, device, static_cast<const void*>(stream));
}

const char* launch_saxpy(int device, CUstream_st* stream, float a, const float* x, const float* y, float* out,
                         int64_t count) {
  note("saxpy", device, stream);
  for (int64_t i = 0; i < count; ++i) out[i] = a * x[i] + y[i];
  return nullptr;
}

const char* launch_softmax(int device, CUstream_st* stream, const float* x, float* out, int64_t rows, int64_t columns) {
  note("softmax", device, stream);
  for (int64_t row = 0; row < rows; ++row, x += columns, out += columns) {
    float largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < columns; ++i) largest = std::fmax(largest, x[i]);
    for (int64_t i = 0; i < columns; ++i) sum += out[i] = std::exp(x[i] - largest);
    for (int64_t i = 0; i < columns; ++i) out[i] /= sum;
  }
  return nullptr;
}

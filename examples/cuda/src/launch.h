// The kernels, put in order on a stream. NULL if they were launched, else what went wrong, in CUDA's words.
#ifndef LAUNCH_H_
#define LAUNCH_H_

#include <cstdint>

struct CUstream_st;

// `device`: where the memory is; the caller's current device stays as it was.
const char* launch_saxpy(int device, CUstream_st* stream, float a, const float* x, const float* y, float* out,
                         int64_t count);
const char* launch_softmax(int device, CUstream_st* stream, const float* x, float* out, int64_t rows, int64_t columns);

#endif

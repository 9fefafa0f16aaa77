/* libamdhip64, as far as `dlx-torch verify` uses it. It hands everything to the simulated CUDA of the same process, on which
 * torch runs: HIP's functions have CUDA's parameters and numbers. */
#include "sim.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

static void* cuda(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (!found) abort();
  return found;
}

#define FORWARD(hip, cuda_name, parameters, arguments)    \
  int hip parameters {                                    \
    NOTE();                                               \
    return ((int(*) parameters)cuda(cuda_name))arguments; \
  }

FORWARD(hipGetDevice, "cudaGetDevice", (int* device), (device))
FORWARD(hipHostMalloc, "cudaHostAlloc", (void** out, size_t size, unsigned flags), (out, size, flags))
FORWARD(hipMemcpyAsync, "cudaMemcpyAsync", (void* to, const void* from, size_t size, int kind, void* stream),
        (to, from, size, kind, stream))
FORWARD(hipLaunchHostFunc, "cudaLaunchHostFunc", (void* stream, void (*function)(void*), void* data),
        (stream, function, data))
FORWARD(hipStreamCreate, "cudaStreamCreate", (void** out), (out))
FORWARD(hipStreamQuery, "cudaStreamQuery", (void* stream), (stream))
FORWARD(hipStreamSynchronize, "cudaStreamSynchronize", (void* stream), (stream))

int hipRuntimeGetVersion(int* version) {
  NOTE();
  *version = 60241133;
  return 0;
}

/* libc10_hip: the three functions that a library needs to know the current stream. Their names are those of one generation
 * of PyTorch's hipify: c10::hip in the first, c10::cuda in the second. */
#include "current.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct stream { /* c10::Stream, and all that HIPStream consists of */
  int8_t device_type, device;
  int64_t id; /* any number that stream() can turn into a hipStream_t: here, the pointer itself */
};

#if DLX_SIM_GENERATION == 1
enum { DEVICE_TYPE = 6 }; /* c10::DeviceType::HIP */
#define GET "_ZN3c103hip19getCurrentHIPStreamEa"
#define HANDLE "_ZNK3c103hip9HIPStream6streamEv"
#define COUNT "_ZN3c103hip12device_countEv"
#else
enum { DEVICE_TYPE = 1 }; /* c10::DeviceType::CUDA */
#define GET "_ZN3c104cuda20getCurrentCUDAStreamEa"
#define HANDLE "_ZNK3c104cuda10CUDAStream6streamEv"
#define COUNT "_ZN3c104cuda12device_countEv"
#endif

struct stream getCurrentHIPStream(int8_t device) __asm__(GET);
void* HIPStream_stream(const struct stream* stream) __asm__(HANDLE);
int8_t device_count(void) __asm__(COUNT);

/* With DLX_SIM_ROCM_FOLLOWS_CUDA, torch's current stream, of a CUDA build of torch that pretends to be one for ROCm. */
static void* stream_of_torch(int8_t device) {
  void* torch = dlopen("libc10_cuda.so", RTLD_NOW | RTLD_NOLOAD);
  struct stream (*get)(int8_t) = torch ? dlsym(torch, "_ZN3c104cuda20getCurrentCUDAStreamEa") : NULL;
  void* (*handle)(const struct stream*) = torch ? dlsym(torch, "_ZNK3c104cuda10CUDAStream6streamEv") : NULL;
  if (!get || !handle) abort();
  const struct stream found = get(device);
  return handle(&found);
}

struct stream getCurrentHIPStream(int8_t device) {
  NOTE();
  if (getenv("DLX_SIM_ROCM_FOLLOWS_CUDA"))
    return (struct stream){DEVICE_TYPE, device, (int64_t)stream_of_torch(device)};
  if (device < 0) device = 0; /* -1 is the current device, and nothing here changes it */
  return (struct stream){DEVICE_TYPE, device, (int64_t)dlx_sim_get_stream(device)};
}

void* HIPStream_stream(const struct stream* stream) {
  NOTE();
  return (void*)stream->id;
}

int8_t device_count(void) {
  NOTE();
  return (int8_t)dlx_sim_device_count();
}

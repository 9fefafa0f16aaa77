/* libcudart, errors and devices. A function without a body in this folder is a stub that returns 0 (cudaSuccess). */
#include "cudart.h"
#include "memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

_Thread_local int dlx_sim_device;
_Thread_local int dlx_sim_error;

static int valid(int device) { return device >= 0 && device < dlx_sim_device_count(); }

/* ---- errors and versions ---- */

int cudaGetLastError(void) {
  NOTE();
  int error = dlx_sim_error;
  dlx_sim_error = SUCCESS;
  return error;
}

int cudaPeekAtLastError(void) {
  NOTE();
  return dlx_sim_error;
}

const char* cudaGetErrorName(int error) {
  NOTE();
  switch (error) {
    case SUCCESS: return "cudaSuccess";
    case INVALID_VALUE: return "cudaErrorInvalidValue";
    case OUT_OF_MEMORY: return "cudaErrorMemoryAllocation";
    case NO_DEVICE: return "cudaErrorNoDevice";
    case INVALID_DEVICE: return "cudaErrorInvalidDevice";
    case NOT_READY: return "cudaErrorNotReady";
    default: return "cudaErrorUnknown";
  }
}

const char* cudaGetErrorString(int error) {
  NOTE();
  switch (error) {
    case SUCCESS: return "no error";
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case NO_DEVICE: return "no CUDA-capable device is detected";
    case INVALID_DEVICE: return "invalid device ordinal";
    case NOT_READY: return "device not ready";
    default: return "unknown error";
  }
}

int cudaRuntimeGetVersion(int* version) {
  NOTE();
  *version = DLX_SIM_CUDA_VERSION;
  return SUCCESS;
}

int cudaDriverGetVersion(int* version) {
  NOTE();
  *version = DLX_SIM_CUDA_VERSION;
  return SUCCESS;
}

/* torch does not link to the driver: it gets the driver's functions from the runtime. */
static void* driver;
__attribute__((constructor)) static void open_driver(void) { driver = dlopen("libcuda.so.1", RTLD_NOW); }

static int entry_point(const char* symbol, void** function, int* status) {
  *function = driver ? dlsym(driver, symbol) : NULL;
  if (status) *status = *function ? 0 : 1; /* cudaDriverEntryPointSuccess, ...SymbolNotFound */
  return SUCCESS;
}

int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, int* status) {
  NOTE();
  (void)flags;
  return entry_point(symbol, function, status);
}

int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version, unsigned long long flags,
                                     int* status) {
  NOTE();
  (void)version, (void)flags;
  return entry_point(symbol, function, status);
}

/* ---- devices ---- */

int cudaGetDeviceCount(int* count) {
  NOTE();
  *count = dlx_sim_device_count();
  return done(*count ? SUCCESS : NO_DEVICE);
}

int cudaGetDevice(int* device) {
  NOTE();
  *device = dlx_sim_device;
  return done(dlx_sim_device_count() ? SUCCESS : NO_DEVICE);
}

int cudaSetDevice(int device) {
  NOTE();
  if (!valid(device)) return done(INVALID_DEVICE);
  dlx_sim_activate(device);
  dlx_sim_device = device;
  return SUCCESS;
}

/* Byte offsets in cudaDeviceProp, which changed at CUDA 13 (some fields before them went away). */
#if DLX_SIM_CUDA_VERSION >= 13000
enum { MP_COUNT = 384, PCI_BUS = 568, L2_SIZE = 596, MP_THREADS = 604, MP_SHARED = 624, MP_REGS = 632 };
#else
enum { MP_COUNT = 388, PCI_BUS = 584, L2_SIZE = 616, MP_THREADS = 624, MP_SHARED = 640, MP_REGS = 648 };
#endif

static int properties(char* prop, size_t size, int device) {
  if (!valid(device)) return done(INVALID_DEVICE);
  memset(prop, 0, size);
  snprintf(prop, 256, "Simulated CUDA device %d", device);
  prop[256] = (char)(device + 1); /* uuid: one a device */
  *(size_t*)(prop + 288) = DLX_SIM_TOTAL_MEMORY;
  *(size_t*)(prop + 296) = 48 << 10; /* sharedMemPerBlock */
  *(int*)(prop + 304) = 65536;       /* regsPerBlock */
  *(int*)(prop + 308) = 32;          /* warpSize */
  *(int*)(prop + 320) = 1024;        /* maxThreadsPerBlock */
  for (int i = 0; i < 3; ++i) {
    *(int*)(prop + 324 + 4 * i) = i < 2 ? 1024 : 64;          /* maxThreadsDim */
    *(int*)(prop + 336 + 4 * i) = i < 1 ? 0x7fffffff : 65535; /* maxGridSize */
  }
  *(int*)(prop + 360) = 8; /* major; minor is 0 */
  *(int*)(prop + MP_COUNT) = 16;
  *(int*)(prop + PCI_BUS) = device + 1;
  *(int*)(prop + L2_SIZE) = 4 << 20;
  *(int*)(prop + MP_THREADS) = 2048;
  *(size_t*)(prop + MP_SHARED) = 96 << 10;
  *(int*)(prop + MP_REGS) = 65536;
  return SUCCESS;
}

/* Each zeroes as many bytes as its callers' struct has: the same name has stood for several layouts. */
#if DLX_SIM_CUDA_VERSION >= 13000
int cudaGetDeviceProperties(void* prop, int device) {
  NOTE();
  return properties(prop, 1008, device);
}
#else
int cudaGetDeviceProperties(void* prop, int device) {
  NOTE();
  return properties(prop, 720, device);
}

int cudaGetDeviceProperties_v2(void* prop, int device) {
  NOTE();
  return properties(prop, 1032, device);
}
#endif

int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  NOTE();
  if (!valid(device)) return done(INVALID_DEVICE);
  switch (attribute) {
    case 1: *value = 1024; break;  /* maxThreadsPerBlock */
    case 10: *value = 32; break;   /* warpSize */
    case 16: *value = 16; break;   /* multiProcessorCount */
    case 39: *value = 2048; break; /* maxThreadsPerMultiProcessor */
    case 75: *value = 8; break;    /* computeCapabilityMajor */
    default: *value = 0;           /* zero, or a feature that is not there */
  }
  return SUCCESS;
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  NOTE();
  if (!valid(device)) return done(INVALID_DEVICE);
  snprintf(text, (size_t)length, "0000:%02x:00.0", device + 1);
  return SUCCESS;
}

int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  NOTE();
  *can = device != peer;
  return SUCCESS;
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  NOTE();
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return SUCCESS;
}

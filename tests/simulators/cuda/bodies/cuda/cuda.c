/* The driver, libcuda: the few functions that must return something. All others are stubs that return 0. */
#include "sim.h"

#include <stddef.h>

enum { SUCCESS = 0, INVALID_DEVICE = 101 };

static int contexts[DLX_SIM_MAX_DEVICES];

int cuDriverGetVersion(int* version) {
  NOTE();
  *version = DLX_SIM_CUDA_VERSION;
  return SUCCESS;
}

int cuDeviceGetCount(int* count) {
  NOTE();
  *count = dlx_sim_device_count();
  return SUCCESS;
}

int cuDeviceGet(int* device, int ordinal) {
  NOTE();
  *device = ordinal;
  return ordinal >= 0 && ordinal < dlx_sim_device_count() ? SUCCESS : INVALID_DEVICE;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  NOTE();
  (void)attribute, (void)device;
  *value = 0; /* "not supported", which is right for the features that torch asks for */
  return SUCCESS;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  NOTE();
  *flags = 0;
  *active = dlx_sim_is_active(device);
  return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  NOTE();
  if (device < 0 || device >= dlx_sim_device_count()) return INVALID_DEVICE;
  dlx_sim_activate(device);
  *context = &contexts[device];
  return SUCCESS;
}

int cuCtxGetCurrent(void** context) {
  NOTE();
  *context = &contexts[0];
  return SUCCESS;
}

int cuGetErrorString(int error, const char** text) {
  NOTE();
  *text = error ? "simulated driver error" : "no error";
  return SUCCESS;
}

int cuGetErrorName(int error, const char** text) {
  NOTE();
  *text = error ? "CUDA_ERROR_SIMULATED" : "CUDA_SUCCESS";
  return SUCCESS;
}

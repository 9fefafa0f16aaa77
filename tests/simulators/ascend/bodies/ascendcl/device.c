/* libascendcl, the process and its devices. A function without a body in this folder is a stub that returns 0 (ACL_SUCCESS). */
#include "acl.h"

#include <stdio.h>
#include <string.h>

_Thread_local int dlx_sim_device;
static int contexts[DLX_SIM_MAX_DEVICES]; /* one a device: its address is the handle */

static int valid(int device) { return device >= 0 && device < dlx_sim_device_count(); }

const char* aclrtGetSocName(void) {
  NOTE();
  return "Ascend910B1";
}

int aclsysGetVersionStr(char* package, char* version) {
  NOTE();
  (void)package;
  strcpy(version, "8.5.0"); /* the caller's room is 128 bytes */
  return SUCCESS;
}

struct package_version { /* the leading part of aclCANNPackageVersion */
  char version[128], major[64], minor[64], release[64], patch[64];
};

/* torch_npu up to 2.8 calls this instead. */
int aclsysGetCANNVersion(int package, struct package_version* out) {
  NOTE();
  (void)package;
  *out = (struct package_version){"8.5.0", "8", "5", "0", ""};
  return SUCCESS;
}

int aclrtGetVersion(int32_t* major, int32_t* minor, int32_t* patch) {
  NOTE();
  *major = 1, *minor = 13, *patch = 0;
  return SUCCESS;
}

const char* aclGetRecentErrMsg(void) {
  NOTE();
  return "simulated CANN error";
}

/* Options of the operator compiler. torch_npu gets the size of its buffer from the first, and its content from the second. */
size_t aclGetCompileoptSize(int option) {
  NOTE();
  (void)option;
  return 32;
}

int aclGetCompileopt(int option, char* value, size_t length) {
  NOTE();
  (void)option;
  if (length) snprintf(value, length, "0");
  return SUCCESS;
}

int aclrtGetDeviceCount(uint32_t* count) {
  NOTE();
  *count = (uint32_t)dlx_sim_device_count();
  return *count ? SUCCESS : NO_DEVICE;
}

int aclrtGetDevice(int32_t* device) {
  NOTE();
  *device = dlx_sim_device;
  return SUCCESS;
}

int aclrtSetDevice(int32_t device) {
  NOTE();
  if (!valid(device)) return INVALID_DEVICE;
  dlx_sim_activate(device);
  dlx_sim_device = device;
  return SUCCESS;
}

int aclrtGetPrimaryCtxState(int32_t device, uint32_t* flags, int32_t* active) {
  NOTE();
  if (!valid(device)) return INVALID_DEVICE;
  if (flags) *flags = 0;
  *active = dlx_sim_is_active(device);
  return SUCCESS;
}

int aclrtGetCurrentContext(void** context) {
  NOTE();
  *context = &contexts[dlx_sim_device];
  return SUCCESS;
}

int aclrtSetCurrentContext(void* context) {
  NOTE();
  dlx_sim_device = (int)((int*)context - contexts);
  return SUCCESS;
}

int aclrtDeviceCanAccessPeer(int32_t* can, int32_t device, int32_t peer) {
  NOTE();
  *can = device != peer;
  return SUCCESS;
}

int aclGetDeviceCapability(uint32_t device, int what, int64_t* value) {
  NOTE();
  (void)device, (void)what;
  *value = 24; /* cores */
  return SUCCESS;
}

int aclrtGetDeviceInfo(uint32_t device, int what, int64_t* value) {
  return aclGetDeviceCapability(device, what, value);
}

int aclrtGetSysParamOpt(int option, int64_t* value) {
  NOTE();
  (void)option;
  *value = 0;
  return SUCCESS;
}

int aclrtGetLogicDevIdByUserDevId(int32_t user, int32_t* logical) {
  NOTE();
  *logical = user;
  return SUCCESS;
}

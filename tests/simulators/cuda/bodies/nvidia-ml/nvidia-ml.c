/* libnvidia-ml: torch counts devices with it if it is installed. A machine's real one would count other devices. */
#include "sim.h"

int nvmlInit(void) {
  NOTE();
  return 0;
}

/* c10 calls this for the text of an out-of-memory error. */
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, void* processes) {
  NOTE();
  (void)device, (void)processes;
  *count = 0;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  NOTE();
  *count = (unsigned)dlx_sim_device_count();
  return 0;
}

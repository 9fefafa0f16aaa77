/* libnvidia-ml: torch counts devices with it where it is there, so it has to agree on a machine with a real driver. */
#include "sim.h"

int nvmlInit(void) {
  NOTE();
  return 0;
}

/* What c10 calls for the text of an out-of-memory error. */
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

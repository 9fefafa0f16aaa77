/* Work given to a stream: done at once, unless the test wants it slow or refused. */
#include "acl.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

static _Atomic double delay;
static atomic_int failing;
static atomic_ulong finished;

unsigned long DLX_SIM(finished)(void) { return finished; }
void DLX_SIM(slow)(double seconds) { delay = seconds; }
void DLX_SIM(fail)(int on) { failing = on; }

int dlx_sim_work(const char* name) {
  double seconds = delay;
  if (seconds > 0) {
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
  }
  dlx_sim_note(name);
  ++finished;
  return failing ? INTERNAL_ERROR : SUCCESS;
}

/* aclnnAdd launches, aclnnAddGetWorkspaceSize prepares: torch_npu calls the second on the thread that wants the addition. */
int dlx_sim_stub(const char* name) {
  if (!strncmp(name, "aclopCompileAndExecute", 22) || (!strncmp(name, "aclnn", 5) && !strstr(name, "WorkspaceSize")))
    return dlx_sim_work(name);
  dlx_sim_note(name);
  return SUCCESS;
}

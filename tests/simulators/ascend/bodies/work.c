/* Work given to a stream. It is done at once, unless a test holds it or lets it fail. */
#include "acl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t released = PTHREAD_COND_INITIALIZER;
static double hold; /* for how many seconds work is held at most; 0: it is not held */
static int holder;  /* the thread that was held last since recorder.held() asked for it; 0: none yet */

static atomic_int failing;
static atomic_ulong finished;

unsigned long DLX_SIM(finished)(void) { return finished; }
void DLX_SIM(fail)(void) { failing = 1; }

void DLX_SIM(hold)(double seconds) {
  pthread_mutex_lock(&lock);
  if (seconds > 0) holder = 0;
  hold = seconds;
  pthread_cond_broadcast(&released);
  pthread_mutex_unlock(&lock);
}

int DLX_SIM(holder)(void) {
  pthread_mutex_lock(&lock);
  int thread = holder;
  pthread_mutex_unlock(&lock);
  return thread;
}

static struct timespec in(double seconds) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time); /* the clock of a condition variable */
  double end = (double)time.tv_nsec * 1e-9 + seconds;
  time.tv_sec += (time_t)end;
  time.tv_nsec = (long)((end - (double)(time_t)end) * 1e9);
  return time;
}

static void wait_while_held(void) {
  pthread_mutex_lock(&lock);
  if (hold > 0) {
    holder = (int)syscall(SYS_gettid);
    struct timespec end = in(hold);
    while (hold > 0 && !pthread_cond_timedwait(&released, &lock, &end)) continue;
  }
  pthread_mutex_unlock(&lock);
}

int dlx_sim_work(const char* name) {
  wait_while_held();
  dlx_sim_note(name);
  ++finished;
  return failing ? INTERNAL_ERROR : SUCCESS;
}

/* aclnnAdd is work; aclnnAddGetWorkspaceSize only prepares it, and torch_npu calls that on the thread of the operator. */
int dlx_sim_stub(const char* name) {
  if (!strncmp(name, "aclopCompileAndExecute", 22) || (!strncmp(name, "aclnn", 5) && !strstr(name, "WorkspaceSize")))
    return dlx_sim_work(name);
  dlx_sim_note(name);
  return SUCCESS;
}

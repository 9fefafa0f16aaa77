/* libascendcl, functions of the host that a stream waits for. They run on the thread that is subscribed to the stream, while
 * that thread is in aclrtProcessReport. */
#include "acl.h"
#include "queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct subscription {
  struct subscription* next;
  uint64_t thread;
  void* stream;
};

struct report {
  struct report* next;
  void (*function)(void*);
  void* data;
  uint64_t thread;
  int done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct subscription* subscriptions;
static struct report* reports; /* that a thread has to process */

int aclrtSubscribeReport(uint64_t thread, void* stream) {
  NOTE();
  struct subscription* made = malloc(sizeof *made);
  if (!made) return INTERNAL_ERROR;
  pthread_mutex_lock(&lock);
  *made = (struct subscription){subscriptions, thread, stream};
  subscriptions = made;
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

int aclrtUnSubscribeReport(uint64_t thread, void* stream) {
  NOTE();
  pthread_mutex_lock(&lock);
  struct subscription** link = &subscriptions;
  while (*link && ((*link)->thread != thread || (*link)->stream != stream)) link = &(*link)->next;
  struct subscription* found = *link;
  if (found) *link = found->next;
  pthread_mutex_unlock(&lock);
  free(found);
  return found ? SUCCESS : PARAM_INVALID;
}

/* On the stream's thread. */
static void deliver(void* argument) {
  struct report* report = argument;
  pthread_mutex_lock(&lock);
  report->next = reports;
  reports = report;
  pthread_cond_broadcast(&changed);
  while (!report->done) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  free(report);
}

/* The stream always waits for the function, as with ACL_CALLBACK_BLOCK. */
int aclrtLaunchCallback(void (*function)(void*), void* data, int block, void* stream) {
  WORK();
  (void)block;
  pthread_mutex_lock(&lock);
  struct subscription* found = subscriptions;
  while (found && found->stream != stream) found = found->next;
  uint64_t thread = found ? found->thread : 0;
  pthread_mutex_unlock(&lock);
  struct report* report = found ? malloc(sizeof *report) : NULL;
  if (!report) return found ? INTERNAL_ERROR : PARAM_INVALID;
  *report = (struct report){NULL, function, data, thread, 0};
  dlx_sim_call(dlx_sim_queue_of(stream), &deliver, report);
  return SUCCESS;
}

static struct report* take(uint64_t thread) {
  struct report** link = &reports;
  while (*link && (*link)->thread != thread) link = &(*link)->next;
  struct report* found = *link;
  if (found) *link = found->next;
  return found;
}

int aclrtProcessReport(int32_t milliseconds) {
  NOTE();
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end); /* the clock of a condition variable */
  long long nanoseconds = end.tv_nsec + milliseconds * 1000000LL;
  end.tv_sec += nanoseconds / 1000000000;
  end.tv_nsec = nanoseconds % 1000000000;
  pthread_mutex_lock(&lock);
  struct report* report;
  while (!(report = take((uint64_t)pthread_self())))
    if (pthread_cond_timedwait(&changed, &lock, &end)) break;
  pthread_mutex_unlock(&lock);
  if (!report) return REPORT_TIMEOUT;
  report->function(report->data);
  pthread_mutex_lock(&lock);
  report->done = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return SUCCESS;
}

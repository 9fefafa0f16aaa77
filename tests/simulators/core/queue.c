/* The queues behind queue.h. One lock guards all of them; it is not held while a host function runs. */
#include "queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct event {
  unsigned long recorded, done; /* the number of the last record that was given to a stream, and that was reached */
  int holders;
};

enum kind { CALL, COPY, FILL, RECORD, WAIT };

struct work {
  struct work* next;
  enum kind kind;
  void (*function)(void*);
  void* to; /* or the data of the function */
  const void* from;
  size_t size;
  int value;
  struct event* event;
  unsigned long number; /* of the record */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct queue* queues;

static void let_go(struct event* event) {
  if (event && !--event->holders) free(event);
}

/* With the lock held; a function is called, and an event waited for, without it. */
static void run(struct work* work) {
  struct event* event = work->event;
  switch (work->kind) {
    case CALL:
      pthread_mutex_unlock(&lock);
      work->function(work->to);
      pthread_mutex_lock(&lock);
      break;
    case COPY: memmove(work->to, work->from, work->size); break;
    case FILL: memset(work->to, work->value, work->size); break;
    case RECORD:
      if (event->done < work->number) event->done = work->number;
      break;
    case WAIT:
      while (event->done < work->number) pthread_cond_wait(&changed, &lock);
  }
  let_go(event);
}

static void* run_all(void* argument) {
  struct queue* queue = argument;
  pthread_mutex_lock(&lock);
  while (queue->first) {
    struct work* work = queue->first;
    run(work); /* still in the queue meanwhile, which is not idle */
    queue->first = work->next;
    free(work);
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

static int has_to_wait(const struct work* work) {
  return work->kind == CALL || (work->kind == WAIT && work->event->done < work->number);
}

static struct work* keep(const struct work* work) {
  struct work* kept = malloc(sizeof *kept);
  if (!kept) abort();
  *kept = *work;
  kept->next = NULL;
  return kept;
}

static void add(struct work** first, struct work** last, struct work* work) {
  *(*first ? &(*last)->next : first) = work;
  *last = work;
}

/* With the lock held. */
static void give(struct queue* queue, struct work work) {
  if (queue->capturing) {
    if (!work.event) add(&queue->captured, &queue->last_captured, keep(&work));
    return;
  }
  if (work.event) ++work.event->holders;
  if (!queue->first && !has_to_wait(&work)) {
    run(&work);
    pthread_cond_broadcast(&changed);
    return;
  }
  int idle = !queue->first;
  add(&queue->first, &queue->last, keep(&work));
  if (idle) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, &run_all, queue)) abort();
    pthread_detach(thread);
  }
}

static void give_now(struct queue* queue, struct work work) {
  pthread_mutex_lock(&lock);
  give(queue, work);
  pthread_mutex_unlock(&lock);
}

void dlx_sim_open_queue(struct queue* queue, int device) {
  pthread_mutex_lock(&lock);
  *queue = (struct queue){.next = queues, .device = device};
  queues = queue;
  pthread_mutex_unlock(&lock);
}

void dlx_sim_close_queue(struct queue* queue) {
  pthread_mutex_lock(&lock);
  while (queue->first) pthread_cond_wait(&changed, &lock);
  struct queue** link = &queues;
  while (*link && *link != queue) link = &(*link)->next;
  if (*link) *link = queue->next;
  pthread_mutex_unlock(&lock);
}

void dlx_sim_call(struct queue* queue, void (*function)(void*), void* data) {
  give_now(queue, (struct work){.kind = CALL, .function = function, .to = data});
}

void dlx_sim_copy(struct queue* queue, void* to, const void* from, size_t size) {
  if (size) give_now(queue, (struct work){.kind = COPY, .to = to, .from = from, .size = size});
}

void dlx_sim_fill(struct queue* queue, void* to, int value, size_t size) {
  if (size) give_now(queue, (struct work){.kind = FILL, .to = to, .value = value, .size = size});
}

struct event* dlx_sim_make_event(void) {
  struct event* event = malloc(sizeof *event);
  if (event) *event = (struct event){0, 0, 1};
  return event;
}

void dlx_sim_drop_event(struct event* event) {
  pthread_mutex_lock(&lock);
  let_go(event);
  pthread_mutex_unlock(&lock);
}

void dlx_sim_record(struct queue* queue, struct event* event) {
  pthread_mutex_lock(&lock);
  give(queue, (struct work){.kind = RECORD, .event = event, .number = ++event->recorded});
  pthread_mutex_unlock(&lock);
}

void dlx_sim_wait(struct queue* queue, struct event* event) {
  pthread_mutex_lock(&lock);
  give(queue, (struct work){.kind = WAIT, .event = event, .number = event->recorded});
  pthread_mutex_unlock(&lock);
}

int dlx_sim_event_is_done(struct event* event) {
  pthread_mutex_lock(&lock);
  int is_done = event->done >= event->recorded;
  pthread_mutex_unlock(&lock);
  return is_done;
}

void dlx_sim_wait_here(struct event* event) {
  pthread_mutex_lock(&lock);
  unsigned long number = event->recorded;
  while (event->done < number) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

int dlx_sim_is_idle(struct queue* queue) {
  pthread_mutex_lock(&lock);
  int is_idle = !queue->first;
  pthread_mutex_unlock(&lock);
  return is_idle;
}

void dlx_sim_drain(struct queue* queue) {
  pthread_mutex_lock(&lock);
  while (queue->first) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

void dlx_sim_drain_device(int device) {
  pthread_mutex_lock(&lock);
  for (struct queue* queue = queues; queue;) {
    if (queue->device == device && queue->first) {
      pthread_cond_wait(&changed, &lock);
      queue = queues; /* others may have come or gone meanwhile */
    } else {
      queue = queue->next;
    }
  }
  pthread_mutex_unlock(&lock);
}

void dlx_sim_begin_capture(struct queue* queue) {
  pthread_mutex_lock(&lock);
  queue->capturing = 1;
  queue->captured = NULL;
  pthread_mutex_unlock(&lock);
}

struct work* dlx_sim_end_capture(struct queue* queue) {
  pthread_mutex_lock(&lock);
  queue->capturing = 0;
  struct work* graph = queue->captured;
  pthread_mutex_unlock(&lock);
  return graph;
}

int dlx_sim_is_capturing(struct queue* queue) {
  pthread_mutex_lock(&lock);
  int capturing = queue->capturing;
  pthread_mutex_unlock(&lock);
  return capturing;
}

struct work* dlx_sim_copy_graph(const struct work* graph) {
  struct work *first = NULL, *last = NULL;
  for (; graph; graph = graph->next) add(&first, &last, keep(graph));
  return first;
}

void dlx_sim_drop_graph(struct work* graph) {
  while (graph) {
    struct work* next = graph->next;
    free(graph);
    graph = next;
  }
}

void dlx_sim_launch(struct queue* queue, const struct work* graph) {
  pthread_mutex_lock(&lock);
  for (; graph; graph = graph->next) give(queue, *graph);
  pthread_mutex_unlock(&lock);
}

/* Streams. Work is done when it is given, unless work before it on its stream has to wait: for a host function, which a
 * thread of its own runs, or for an event of another stream. Then a thread of the stream does it, in order. */
#pragma once
#include "sim.h"

#include <stddef.h>

#define dlx_sim_open_queue DLX_SIM(open_queue)
#define dlx_sim_close_queue DLX_SIM(close_queue)
#define dlx_sim_call DLX_SIM(call)
#define dlx_sim_copy DLX_SIM(copy)
#define dlx_sim_fill DLX_SIM(fill)
#define dlx_sim_make_event DLX_SIM(make_event)
#define dlx_sim_drop_event DLX_SIM(drop_event)
#define dlx_sim_record DLX_SIM(record)
#define dlx_sim_wait DLX_SIM(wait)
#define dlx_sim_event_is_done DLX_SIM(event_is_done)
#define dlx_sim_wait_here DLX_SIM(wait_here)
#define dlx_sim_is_idle DLX_SIM(is_idle)
#define dlx_sim_drain DLX_SIM(drain)
#define dlx_sim_drain_device DLX_SIM(drain_device)
#define dlx_sim_begin_capture DLX_SIM(begin_capture)
#define dlx_sim_end_capture DLX_SIM(end_capture)
#define dlx_sim_is_capturing DLX_SIM(is_capturing)
#define dlx_sim_copy_graph DLX_SIM(copy_graph)
#define dlx_sim_drop_graph DLX_SIM(drop_graph)
#define dlx_sim_launch DLX_SIM(launch)

struct work;
struct event;

/* A stream's, or that of a device's default stream. All zeros but `device` is an empty one. */
struct queue {
  struct queue* next; /* of all queues that were opened */
  struct work *first, *last;
  struct work *captured, *last_captured;
  int device;
  int capturing;
};

/* dlx_sim_drain_device knows the queue between these two; closing it waits until it is empty. */
void dlx_sim_open_queue(struct queue* queue, int device);
void dlx_sim_close_queue(struct queue* queue);

void dlx_sim_call(struct queue* queue, void (*function)(void*), void* data);
void dlx_sim_copy(struct queue* queue, void* to, const void* from, size_t size);
void dlx_sim_fill(struct queue* queue, void* to, int value, size_t size);

/* NULL if the host has no memory. An event that was never recorded is done. Work that needs a dropped event keeps it. */
struct event* dlx_sim_make_event(void);
void dlx_sim_drop_event(struct event* event);
void dlx_sim_record(struct queue* queue, struct event* event);
void dlx_sim_wait(struct queue* queue, struct event* event);
int dlx_sim_event_is_done(struct event* event);
void dlx_sim_wait_here(struct event* event); /* on the calling thread */

int dlx_sim_is_idle(struct queue* queue);
void dlx_sim_drain(struct queue* queue); /* returns when all of its work is done */
void dlx_sim_drain_device(int device);

/* In between, the queue keeps the copies, fills and calls that it is given, and does none of them; events have no effect. The
 * graph is what it has kept: NULL if that is nothing. */
void dlx_sim_begin_capture(struct queue* queue);
struct work* dlx_sim_end_capture(struct queue* queue);
int dlx_sim_is_capturing(struct queue* queue);
struct work* dlx_sim_copy_graph(const struct work* graph);
void dlx_sim_drop_graph(struct work* graph);
void dlx_sim_launch(struct queue* queue, const struct work* graph); /* as often as wanted */

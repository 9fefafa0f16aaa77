/* The current streams of current.h: each thread has one on each device. */
#include "current.h"

#include <stddef.h>

static _Thread_local void* current[DLX_SIM_MAX_DEVICES];

void dlx_sim_set_stream(int device, void* stream) { current[device] = stream; }
void* dlx_sim_get_stream(int device) { return current[device]; }

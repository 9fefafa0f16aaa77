/* The current streams, which the process under test sets through recorder.py. */
#pragma once
#include "sim.h"

#define dlx_sim_set_stream DLX_SIM(set_stream)
#define dlx_sim_get_stream DLX_SIM(get_stream)

/* The calling thread's current stream on a device that exists; NULL, the default stream, until it is set. */
void dlx_sim_set_stream(int device, void* stream);
void* dlx_sim_get_stream(int device);

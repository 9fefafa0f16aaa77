/* What every simulated CUDA library shares: the record of calls and the devices (sim.c). */
#pragma once

/* Appends a call to the record. `name` must be a literal: only the pointer is kept. Any thread. */
void dlx_sim_note(const char* name);

/* The number of simulated devices: DLX_SIM_CUDA_DEVICES, read once; 2 without it. */
int dlx_sim_device_count(void);

/* The driver's "primary context is active", one flag a device. */
void dlx_sim_activate(int device);
int dlx_sim_is_active(int device);

#define DLX_SIM_MAX_DEVICES 16
#define NOTE() dlx_sim_note(__func__)

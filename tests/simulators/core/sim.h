/* What every simulated library of one vendor shares (sim.c): the record of calls, and the devices. Several vendors may be
 * in one process, so each has these functions under its own name: dlx_sim_note is dlx_sim_cuda_note in the simulated CUDA. */
#pragma once

#define DLX_SIM_PASTE(vendor, name) dlx_sim_##vendor##_##name
#define DLX_SIM_EXPAND(vendor, name) DLX_SIM_PASTE(vendor, name)
#define DLX_SIM(name) DLX_SIM_EXPAND(DLX_SIM_VENDOR, name)

#define dlx_sim_note DLX_SIM(note)
#define dlx_sim_device_count DLX_SIM(device_count)
#define dlx_sim_activate DLX_SIM(activate)
#define dlx_sim_is_active DLX_SIM(is_active)

/* Appends a call to the record. `name` must be a literal: only the pointer is kept. Any thread. */
void dlx_sim_note(const char* name);

/* The number of simulated devices: DLX_SIM_<VENDOR>_DEVICES, read once; 2 without it. */
int dlx_sim_device_count(void);

/* The driver's "primary context is active", one flag a device. */
void dlx_sim_activate(int device);
int dlx_sim_is_active(int device);

#define DLX_SIM_MAX_DEVICES 16
#define NOTE() dlx_sim_note(__func__)

/* What all simulated libraries of one vendor share (sim.c): the record of calls, and the devices. A process may have several
 * vendors, so the names contain the vendor's: dlx_sim_note is dlx_sim_cuda_note in the simulated CUDA. */
#pragma once

#define DLX_SIM_PASTE(vendor, name) dlx_sim_##vendor##_##name
#define DLX_SIM_EXPAND(vendor, name) DLX_SIM_PASTE(vendor, name)
#define DLX_SIM(name) DLX_SIM_EXPAND(DLX_SIM_VENDOR, name)

#define dlx_sim_note DLX_SIM(note)
#define dlx_sim_device_count DLX_SIM(device_count)
#define dlx_sim_activate DLX_SIM(activate)
#define dlx_sim_is_active DLX_SIM(is_active)

/* Adds a call to the record, on any thread. `name` must be a literal, because only the pointer is kept. */
void dlx_sim_note(const char* name);

/* The number of simulated devices: DLX_SIM_<VENDOR>_DEVICES, which is read once, or 2. */
int dlx_sim_device_count(void);

/* For each device, the driver's flag "primary context is active". */
void dlx_sim_activate(int device);
int dlx_sim_is_active(int device);

#define DLX_SIM_MAX_DEVICES 16
#define NOTE() dlx_sim_note(__func__)

/* Simulated memory is host memory, so copies are right. A list of blocks knows each pointer and finds wrong frees. */
#pragma once
#include "sim.h"

#include <stddef.h>

#define dlx_sim_allocate DLX_SIM(allocate)
#define dlx_sim_adopt DLX_SIM(adopt)
#define dlx_sim_release DLX_SIM(release)
#define dlx_sim_find DLX_SIM(find)
#define dlx_sim_used DLX_SIM(used)

#define DLX_SIM_TOTAL_MEMORY ((size_t)8 << 30) /* of each device, in bytes */

enum { DLX_SIM_UNKNOWN = 0, DLX_SIM_HOST = 1, DLX_SIM_DEVICE = 2, DLX_SIM_MANAGED = 3 };

/* Allocates a block, 512-byte aligned; NULL for 0 bytes. Returns 0, or -1 if `device` or the host has no memory for it. */
int dlx_sim_allocate(void** out, size_t size, int kind, int device);

/* Adds memory to the list that the caller still owns. Returns 0, or -1 if the host has no memory for the entry. */
int dlx_sim_adopt(void* memory, size_t size, int kind, int device);

/* Frees a block, or removes adopted memory from the list. NULL is allowed. Returns 0, or -1 if there is no such block of
 * host memory (`host`) or device memory. */
int dlx_sim_release(void* memory, int host);

/* Returns the kind of the block that a pointer is in, and sets `device` if there is one. */
int dlx_sim_find(const void* pointer, int* device);

/* Bytes of device memory in use. */
size_t dlx_sim_used(int device);

/* Simulated memory: the host's, so copies are right. A list of blocks tells pointers apart and makes a wrong free an error. */
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

/* A block of the given kind, 512-byte aligned; NULL for 0 bytes. 0, or -1 where `device` or the host has no room for it. */
int dlx_sim_allocate(void** out, size_t size, int kind, int device);

/* Enters memory that stays the caller's. 0, or -1 where the host has no room for the entry. */
int dlx_sim_adopt(void* memory, size_t size, int kind, int device);

/* Frees a block, or takes adopted memory off the list; NULL is fine. -1 where there is no such block, host memory or not. */
int dlx_sim_release(void* memory, int host);

/* The kind of the block that holds a pointer, and its device where there is one. */
int dlx_sim_find(const void* pointer, int* device);

/* Bytes of device memory in use. */
size_t dlx_sim_used(int device);

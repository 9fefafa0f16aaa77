/* The record of calls, and the devices. A process has one copy, which all simulated libraries of the vendor use. */
#include "sim.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { CAPACITY = 1 << 16 };

static _Atomic(const char*) names[CAPACITY];
static atomic_ulong count;
static atomic_int active[DLX_SIM_MAX_DEVICES];

void dlx_sim_note(const char* name) {
  unsigned long i = atomic_fetch_add(&count, 1);
  if (i < CAPACITY) names[i] = name;
}

/* For record.py. The count grows beyond the capacity, so that the reader sees that calls were lost. */
unsigned long DLX_SIM(count)(void) { return count; }
unsigned long DLX_SIM(capacity)(void) { return CAPACITY; }
const char* DLX_SIM(name)(unsigned long i) { return i < CAPACITY && i < count ? names[i] : NULL; }
void DLX_SIM(reset)(void) { count = 0; }

int dlx_sim_device_count(void) {
  static atomic_int devices = -1;
  if (devices < 0) {
    const char* text = getenv(DLX_SIM_DEVICES);
    int wanted = text && *text ? atoi(text) : 2;
    devices = wanted < 0 ? 0 : wanted > DLX_SIM_MAX_DEVICES ? DLX_SIM_MAX_DEVICES : wanted;
  }
  return devices;
}

void dlx_sim_activate(int device) { active[device] = 1; }
int dlx_sim_is_active(int device) { return device >= 0 && device < DLX_SIM_MAX_DEVICES && active[device]; }

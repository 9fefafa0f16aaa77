/* A function without a body: it is recorded, does nothing and returns 0. */
#pragma once
#include "sim.h"

#define DLX_SIM_STUB(name)                \
  __attribute__((weak)) long name(void) { \
    dlx_sim_note(#name);                  \
    return 0;                             \
  }

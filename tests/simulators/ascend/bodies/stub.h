/* A function without a body of its own: it is recorded, does nothing and returns 0. An operator is work given to a stream. */
#pragma once
#include "acl.h"

#define DLX_SIM_STUB(name) \
  __attribute__((weak)) long name(void) { return dlx_sim_stub(#name); }

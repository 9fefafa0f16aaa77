/* A function without a body: it is recorded, does nothing and returns 0. If it is an operator, it is work for a stream. */
#pragma once
#include "acl.h"

#define DLX_SIM_STUB(name) \
  __attribute__((weak)) long name(void) { return dlx_sim_stub(#name); }

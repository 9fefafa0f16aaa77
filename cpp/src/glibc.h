// Symbols of glibc at the version that every supported glibc has, so that a library built on a new system loads on an old one:
// dlopen and dlsym moved from libdl to libc in glibc 2.34 and got a new version there, the old one stays in both.
#ifndef DLX_GLIBC_H_
#define DLX_GLIBC_H_

#include <dlfcn.h>

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dlopen,dlopen@GLIBC_2.2.5\n.symver dlsym,dlsym@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver dlopen,dlopen@GLIBC_2.17\n.symver dlsym,dlsym@GLIBC_2.17");
#endif

#endif  // DLX_GLIBC_H_

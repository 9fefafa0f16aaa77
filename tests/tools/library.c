/*
 * A library that has the symbols of a libdlx_torch_<backend>, but no code. Macros list its undefined symbols and its exports:
 * -DUNDEFINED="STRONG(PyErr_Fetch) WEAK(device_count)" and -DEXPORTS="EXPORT(dlx_torch_build_info)".
 */
#ifndef TEXT
#define TEXT ""
#endif

#define STRONG(name) extern const char name[];
#define WEAK(name) extern const char name[] __attribute__((weak));
UNDEFINED
#undef STRONG
#undef WEAK
#define STRONG(name) name,
#define WEAK(name) name,
static const void* const undefined[] = {UNDEFINED TEXT};

#define EXPORT(name) \
  __attribute__((visibility("default"))) const void* name(void) { return undefined; }
EXPORTS

/*
 * A library with the outside of a libdlx_torch_<backend> and nothing inside. What it asks others for and what it exports come from
 * macros: lists such as -DASKS="ASK(PyErr_Fetch) WEAK(device_count)" and -DEXPORTS="EXPORT(dlx_torch_build_info)".
 */
#ifndef TEXT
#define TEXT ""
#endif

#define ASK(name) extern const char name[];
#define WEAK(name) extern const char name[] __attribute__((weak));
ASKS
#undef ASK
#undef WEAK
#define ASK(name) name,
#define WEAK(name) name,
    static const void* const asked[] = {ASKS TEXT};

#define EXPORT(name) \
  __attribute__((visibility("default"))) const void* name(void) { return asked; }
EXPORTS

/*
 * What every libdlx_torch_<backend> exports: who it is, and a DLPack exchange table, either a whole one (dlx_torch_exchange_api) or
 * one that replaces parts of torch's own (dlx_torch_overlay).
 *
 * The functions are plain C, take no lock, set no Python exception and may be called from any thread, with or without
 * the GIL. What they return is static: it lives as long as the process and is never freed by the caller.
 */
#ifndef DLX_DLX_TORCH_H_
#define DLX_DLX_TORCH_H_

#include <dlpack/dlpack.h>
#include <stdint.h>

/* The number of this interface. It changes when a struct or a signature below changes, never with the package's version. */
#define DLX_TORCH_ABI 1u

#if defined(_WIN32)
#define DLX_TORCH_API __declspec(dllexport)
#else
#define DLX_TORCH_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The identity of a library. A loader compares it with the torch at hand before it asks for the table. */
typedef struct DLXTorchBuildInfo {
  uint32_t struct_size; /* sizeof(DLXTorchBuildInfo) when the library was built */
  uint32_t abi;         /* DLX_TORCH_ABI when the library was built */
  const char* backend;  /* "cpu", "cuda", "rocm" or "torch_npu"; UTF-8, static */
  const char* version;  /* the version of dlx-torch-ext that built it; UTF-8, static */
  uint32_t torch_major; /* the torch release line whose headers were compiled */
  uint32_t torch_minor;
  uint32_t cxx11_abi;    /* 1: _GLIBCXX_USE_CXX11_ABI=1, or no libstdc++ at all; 0: the older one */
  uint32_t dlpack_major; /* the DLPack version of the table */
  uint32_t dlpack_minor;
} DLXTorchBuildInfo;

/* Calls nothing of torch, so it is safe in front of a torch that the library was not built for. */
DLX_TORCH_API const DLXTorchBuildInfo* dlx_torch_build_info(void);

/*
 * The one torch that the library was compiled for, as its torch.__version__ says it ("2.9.0a0+git1234567"); "" where it serves every
 * release of the line in its build info. Optional: a library without this function serves the line. UTF-8, static; calls nothing of torch.
 */
DLX_TORCH_API const char* dlx_torch_built_for(void);

/*
 * The table of DLPack's exchange API for torch.Tensor.
 *
 * pyobject_size: `object.__basicsize__` of the running CPython, in bytes. The library holds no CPython layout of its own;
 * a tensor's payload lies behind PyObject, whose size differs between builds with and without the GIL.
 *
 * Returns NULL if pyobject_size is not a size that a PyObject can have, or not the one of the first call.
 */
DLX_TORCH_API const DLPackExchangeAPI* dlx_torch_exchange_api(uint32_t pyobject_size);

/*
 * A table that forwards to torch's own and replaces what is wrong there on Ascend: the stream, the import and the allocation of
 * kDLExtDev and kDLAscend. The overlay's library exports it. A backend package outside of torch may bundle that library and
 * call this by itself: docs/c.md.
 *
 * upstream: torch's own table, the pointer in the capsule of torch.Tensor.__dlpack_c_exchange_api__. It is borrowed, stays
 * untouched, and must live as long as the process, as torch's does.
 *
 * Returns a static table, which nobody frees; the same one for the same `upstream`. NULL, without a Python exception, if
 * `upstream` is NULL, of another DLPack major version, or not the one of the first call.
 *
 * Reads the environment variable DLX_TORCH_NPU_DEVICE_TYPE at the first call. Asks no device, so it may be called before
 * torch_npu is imported. The caller makes the first call under the GIL, and before any other call ends; later ones need no GIL.
 */
DLX_TORCH_API const DLPackExchangeAPI* dlx_torch_overlay(const DLPackExchangeAPI* upstream);

#ifdef __cplusplus
}
#endif

#endif /* DLX_DLX_TORCH_H_ */

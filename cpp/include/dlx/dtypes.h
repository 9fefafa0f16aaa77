// DLPack's dtypes by the names that torch and numpy have for them.
#ifndef DLX_DTYPES_H_
#define DLX_DTYPES_H_

#include "consumer_core.h"

namespace dlx DLX_HIDDEN {

inline constexpr DLDataType bool_{kDLBool, 8, 1};
inline constexpr DLDataType int8{kDLInt, 8, 1}, int16{kDLInt, 16, 1}, int32{kDLInt, 32, 1}, int64{kDLInt, 64, 1};
inline constexpr DLDataType uint8{kDLUInt, 8, 1}, uint16{kDLUInt, 16, 1}, uint32{kDLUInt, 32, 1},
    uint64{kDLUInt, 64, 1};
inline constexpr DLDataType float16{kDLFloat, 16, 1}, float32{kDLFloat, 32, 1}, float64{kDLFloat, 64, 1};
inline constexpr DLDataType bfloat16{kDLBfloat, 16, 1};
inline constexpr DLDataType complex64{kDLComplex, 64, 1}, complex128{kDLComplex, 128, 1};
inline constexpr DLDataType float8_e4m3fn{kDLFloat8_e4m3fn, 8, 1}, float8_e5m2{kDLFloat8_e5m2, 8, 1};
inline constexpr DLDataType any_dtype{255, 0, 0};  // for Tensor::require: the author asks dtype() himself

constexpr bool same(const DLDataType& a, const DLDataType& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// What an element's address has to be a multiple of, in bytes: the size of what a processor loads at once.
constexpr unsigned alignment_of(const DLDataType& dtype) {
  const unsigned bits = dtype.code == kDLComplex ? dtype.bits / 2U : dtype.bits;
  return bits >= 64 ? 8 : bits >= 32 ? 4 : bits >= 16 ? 2 : 1;
}

// "float32", and "float32x4" for lanes.
struct DTypeName {
  char text[40];

  explicit DTypeName(DLDataType dtype) { dlx_dtype_name(dtype, text, sizeof(text)); }
};

// Ascend, which has a second name on DLPack's main branch: kDLAscend.
constexpr bool is_npu(const DLDevice& device) {
  return device.device_type == kDLExtDev || static_cast<int>(device.device_type) == 21;
}

// "cpu", "cuda:1", and "device 7:0" for types that are not often seen.
struct DeviceName {
  char text[40];

  explicit DeviceName(DLDevice device) {
    const char* name = "";
    switch (static_cast<int>(device.device_type)) {
      case kDLCPU:
      case kDLCUDAHost:
      case kDLROCMHost: name = "cpu"; break;
      case kDLCUDA:
      case kDLCUDAManaged: name = "cuda:%d"; break;
      case kDLROCM: name = "rocm:%d"; break;
      case kDLExtDev:
      case 21: name = "npu:%d"; break;  // kDLAscend, which DLPack 1.3 has on its main branch only
      case kDLOneAPI: name = "xpu:%d"; break;
      case kDLMetal: name = "mps:%d"; break;
      default: snprintf(text, sizeof(text), "device %d:%d", device.device_type, device.device_id); return;
    }
    snprintf(text, sizeof(text), name, device.device_id);
  }
};

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_DTYPES_H_

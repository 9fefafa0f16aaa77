// The names that DLPack's main branch has and no release yet (dmlc/dlpack 94485e2): its version is still 1.3, so no #if tells whether the
// dlpack.h at hand has them. Where it does, the numbers are compared.
#ifndef DLX_DL_NUMBERS_H_
#define DLX_DL_NUMBERS_H_

#include <dlpack/dlpack.h>

#include <cstdint>

namespace dlx {

// `name`, and whether its number is that of dlpack.h's `Enum`, which may not have it.
#define DLX_DL_NUMBER(Enum, name, number)                                         \
  constexpr int32_t name = number;                                                \
  template <typename Type>                                                        \
  constexpr auto name##_fits(int) -> decltype(static_cast<int32_t>(Type::name)) { \
    return Type::name == number;                                                  \
  }                                                                               \
  template <typename>                                                             \
  constexpr int32_t name##_fits(...) {                                            \
    return 1;                                                                     \
  }                                                                               \
  static_assert(name##_fits<Enum>(0) != 0, #name " is another number in this dlpack.h")

DLX_DL_NUMBER(DLDeviceType, kDLTPU, 19);
DLX_DL_NUMBER(DLDeviceType, kDLTPUHost, 20);
DLX_DL_NUMBER(DLDeviceType, kDLAscend, 21);
DLX_DL_NUMBER(DLDataTypeCode, kDLBcomplex, 18);
#undef DLX_DL_NUMBER

}  // namespace dlx

#endif  // DLX_DL_NUMBERS_H_

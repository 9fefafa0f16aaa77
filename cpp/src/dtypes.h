// The one table between torch's ScalarType and DLPack's DLDataType; export, import and allocation all read it.
//
// ScalarType numbers are append-only across torch's releases (c10/core/ScalarType.h), so the table holds the numbers and
// torch_tensor.h asserts them against the headers being compiled. What is not listed has no DLPack name: quantised types,
// bits types, and the sub-byte shells int1-7 and uint1-7, whose elements take a byte each whatever their name says.
#ifndef DLX_DTYPES_H_
#define DLX_DTYPES_H_

#include <dlpack/dlpack.h>

#include <cstdint>

#include "errors.h"

// X(ScalarType's name, its number, the first torch 2.x here that has it, DLPack code, bits, lanes)
#define DLX_FOR_EACH_DTYPE(X)                         \
  X(Byte, 0, 4, kDLUInt, 8, 1)                        \
  X(Char, 1, 4, kDLInt, 8, 1)                         \
  X(Short, 2, 4, kDLInt, 16, 1)                       \
  X(Int, 3, 4, kDLInt, 32, 1)                         \
  X(Long, 4, 4, kDLInt, 64, 1)                        \
  X(Half, 5, 4, kDLFloat, 16, 1)                      \
  X(Float, 6, 4, kDLFloat, 32, 1)                     \
  X(Double, 7, 4, kDLFloat, 64, 1)                    \
  X(ComplexHalf, 8, 4, kDLComplex, 32, 1)             \
  X(ComplexFloat, 9, 4, kDLComplex, 64, 1)            \
  X(ComplexDouble, 10, 4, kDLComplex, 128, 1)         \
  X(Bool, 11, 4, kDLBool, 8, 1)                       \
  X(BFloat16, 15, 4, kDLBfloat, 16, 1)                \
  X(Float8_e5m2, 23, 4, kDLFloat8_e5m2, 8, 1)         \
  X(Float8_e4m3fn, 24, 4, kDLFloat8_e4m3fn, 8, 1)     \
  X(Float8_e5m2fnuz, 25, 4, kDLFloat8_e5m2fnuz, 8, 1) \
  X(Float8_e4m3fnuz, 26, 4, kDLFloat8_e4m3fnuz, 8, 1) \
  X(UInt16, 27, 4, kDLUInt, 16, 1)                    \
  X(UInt32, 28, 4, kDLUInt, 32, 1)                    \
  X(UInt64, 29, 4, kDLUInt, 64, 1)                    \
  X(Float8_e8m0fnu, 44, 7, kDLFloat8_e8m0fnu, 8, 1)   \
  X(Float4_e2m1fn_x2, 45, 8, kDLFloat4_e2m1fn, 4, 2)

namespace dlx {

constexpr int kScalarTypes = 48;
constexpr int kDLCodes = 19;
constexpr int8_t kNoScalarType = -1;

struct DTypeTables {
  alignas(4) DLDataType to_dl[kScalarTypes + 1];  // bits 0: DLPack has no name for it, as for the last one
  uint8_t bytes[kScalarTypes];                    // from one element to the next
  int8_t to_scalar[kDLCodes][8];                  // by code and log2(bits); kNoScalarType: torch has none
};

constexpr int log2_bits(int bits) { return bits <= 1 ? 0 : 1 + log2_bits(bits / 2); }

constexpr DTypeTables make_dtype_tables() {
  DTypeTables tables = {};
  for (auto& of_code : tables.to_scalar) {
    for (auto& scalar_type : of_code) scalar_type = kNoScalarType;
  }
#define DLX_ADD_DTYPE(name, number, since, code, bits, lanes) \
  if (since <= DLX_TORCH_MINOR) {                             \
    tables.to_dl[number] = DLDataType{code, bits, lanes};     \
    tables.bytes[number] = (bits * lanes + 7) / 8;            \
    tables.to_scalar[code][log2_bits(bits)] = number;         \
  }
  DLX_FOR_EACH_DTYPE(DLX_ADD_DTYPE)
#undef DLX_ADD_DTYPE
  return tables;
}

inline constexpr DTypeTables kDTypes = make_dtype_tables();

// `scalar_type` is any number that torch may hold. bits is 0 in the answer where DLPack has no name for it. A reference, because a compiler
// that copies the struct does it field by field.
inline const DLDataType& dtype_to_dl(int scalar_type) {
  return kDTypes.to_dl[scalar_type < 0 || scalar_type >= kScalarTypes ? kScalarTypes : scalar_type];
}

// kNoScalarType where this torch has no such type; every field must match, lanes included.
inline int scalar_type_from_dl(DLDataType dtype) {
  const int bits = dtype.bits;
  if (dtype.code >= kDLCodes || bits == 0 || (bits & (bits - 1)) != 0) return kNoScalarType;
  const int scalar_type = kDTypes.to_scalar[dtype.code][log2_bits(bits)];
  if (scalar_type == kNoScalarType || kDTypes.to_dl[scalar_type].lanes != dtype.lanes) return kNoScalarType;
  return scalar_type;
}

// Bytes from one element to the next: a packed pair of float4 is one element of one byte.
inline int64_t dtype_bytes(DLDataType dtype) { return (int64_t{dtype.bits} * dtype.lanes + 7) / 8; }

// The name of any DLDataType, known or not, as DLPack's consumers spell it: "float32", "uint4", "float4_e2m1fnx2", where x2 is the number
// of lanes.
struct DTypeName {
  explicit DTypeName(DLDataType dtype);
  char text[48];
};

// The ScalarType of `dtype`; or false, with a BufferError that says what could not be done (`task`: "allocate a tensor") and who has to
// change that (`remedy`): this torch has no such dtype.
bool check_dtype(DLDataType dtype, const char* task, const char* remedy, int* scalar_type, Error* error);

}  // namespace dlx

#endif  // DLX_DTYPES_H_

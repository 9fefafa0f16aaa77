#include "dtypes.h"

#include <cstdio>

#include "dl_numbers.h"

namespace dlx {
namespace {

// By DLDataTypeCode. `bits`: the number of bits that the name itself says; 0 where it follows the name ("float32").
// The text inside the struct spares a relocation for each.
struct Code {
  char name[19];
  int8_t bits;
};
constexpr Code kCodes[] = {
    {"int", 0},
    {"uint", 0},
    {"float", 0},
    {"handle", 0},
    {"bfloat", 0},
    {"complex", 0},
    {"bool", 8},
    {"float8_e3m4", 8},
    {"float8_e4m3", 8},
    {"float8_e4m3b11fnuz", 8},
    {"float8_e4m3fn", 8},
    {"float8_e4m3fnuz", 8},
    {"float8_e5m2", 8},
    {"float8_e5m2fnuz", 8},
    {"float8_e8m0fnu", 8},
    {"float6_e2m3fn", 6},
    {"float6_e3m2fn", 6},
    {"float4_e2m1fn", 4},
    {"bcomplex", 0},
};
static_assert(sizeof(kCodes) / sizeof(kCodes[0]) == kDLCodes, "a name for every code");
static_assert(kDLInt == 0 && kDLBool == 6 && kDLFloat8_e3m4 == 7 && kDLFloat8_e5m2 == 12 && kDLFloat4_e2m1fn == 17 &&
                  kDLBcomplex == 18,
              "in the order of dlpack.h");

}  // namespace

DTypeName::DTypeName(DLDataType dtype) {
  char lanes[8] = "";
  if (dtype.lanes != 1) std::snprintf(lanes, sizeof(lanes), "x%u", dtype.lanes);
  if (dtype.code >= kDLCodes) {
    std::snprintf(text, sizeof(text), "code %u of %u bits and %u lanes", dtype.code, dtype.bits, dtype.lanes);
  } else if (dtype.bits == kCodes[dtype.code].bits) {
    std::snprintf(text, sizeof(text), "%s%s", kCodes[dtype.code].name, lanes);
  } else if (kCodes[dtype.code].bits == 0) {
    std::snprintf(text, sizeof(text), "%s%u%s", kCodes[dtype.code].name, dtype.bits, lanes);
  } else {
    std::snprintf(text, sizeof(text), "%s of %u bits%s", kCodes[dtype.code].name, dtype.bits, lanes);
  }
}

bool check_dtype(DLDataType dtype, const char* task, const char* remedy, int* scalar_type, Error* error) {
  *scalar_type = scalar_type_from_dl(dtype);
  if (*scalar_type != kNoScalarType) return true;
  return error->set(ErrorKind::kBufferError, "cannot %s of dtype %s, which this torch does not have: %s", task,
                    DTypeName(dtype).text, remedy);
}

}  // namespace dlx

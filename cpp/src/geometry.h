// Where a tensor lies and how it is laid out, in torch's terms and without torch's headers.
#ifndef DLX_GEOMETRY_H_
#define DLX_GEOMETRY_H_

#include <cstdint>

namespace dlx {

// `ndim` sizes and strides, counted in elements. strides NULL: contiguous, row-major.
struct Layout {
  int32_t ndim;
  const int64_t* shape;
  const int64_t* strides;
};

struct Geometry {
  int32_t torch_device;  // c10::DeviceType
  int32_t device_index;
  int scalar_type;  // c10::ScalarType
  Layout layout;
  int64_t storage_offset;  // in elements
};

}  // namespace dlx

#endif  // DLX_GEOMETRY_H_

// Where a tensor lies and how it is laid out, in torch's terms and without torch's headers.
#ifndef DLX_GEOMETRY_H_
#define DLX_GEOMETRY_H_

#include <cstdint>

namespace dlx {

// Where a tensor lies, how it is laid out. shape and strides: `ndim` elements each, in elements; strides NULL is contiguous.
struct Geometry {
  int32_t torch_device;
  int32_t device_index;
  int scalar_type;
  int32_t ndim;
  const int64_t* shape;
  const int64_t* strides;
  int64_t storage_offset;  // in elements
};

}  // namespace dlx

#endif  // DLX_GEOMETRY_H_

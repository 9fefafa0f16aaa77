// The checks on a shape and strides that somebody else described, before anything is made from them.
#ifndef DLX_LAYOUT_H_
#define DLX_LAYOUT_H_

#include <cstdint>

#include "errors.h"

namespace dlx {

// In elements; strides NULL is contiguous, row-major.
struct Layout {
  int32_t ndim;
  const int64_t* shape;
  const int64_t* strides;
};

// ValueError for a negative ndim, size or stride, a missing shape, and anything that does not fit in 63 bits. On success
// *elements is the product of the sizes and *bytes the distance from the first element to the end of the last one.
bool check_layout(const Layout& layout, int64_t element_bytes, int64_t* elements, int64_t* bytes, Error* error);

// Row-major strides for a shape that check_layout has passed, `ndim` elements each; a size of 0 counts as 1, as torch has it.
void fill_contiguous_strides(int32_t ndim, const int64_t* shape, int64_t* strides);

}  // namespace dlx

#endif  // DLX_LAYOUT_H_

#include "layout.h"

#include "overflow.h"

namespace dlx {

static bool add_product(int64_t* sum, int64_t a, int64_t b) {
  int64_t product;
  return !multiply_overflows(a, b, &product) && !add_overflows(*sum, product, sum);
}

bool check_layout(const Layout& layout, int64_t element_bytes, int64_t* elements, int64_t* bytes, Error* error) {
  if (layout.ndim < 0) return error->set(ErrorKind::kValueError, "ndim is %d, negative", layout.ndim);
  if (layout.ndim > 0 && layout.shape == nullptr) {
    return error->set(ErrorKind::kValueError, "shape is NULL where ndim is %d", layout.ndim);
  }
  // torch computes contiguous strides with sizes of 0 taken as 1, so that product must fit too.
  int64_t product = 1;
  bool empty = false;
  for (int32_t i = 0; i < layout.ndim; ++i) {
    const int64_t size = layout.shape[i];
    if (size < 0)
      return error->set(ErrorKind::kValueError, "shape[%d] is %lld, negative", i, static_cast<long long>(size));
    empty = empty || size == 0;
    if (multiply_overflows(product, size == 0 ? 1 : size, &product)) {
      return error->set(ErrorKind::kValueError, "the product of the %d sizes overflows 63 bits", layout.ndim);
    }
  }
  *elements = empty ? 0 : product;
  int64_t last = 0;  // index of the last element, in elements
  if (layout.strides == nullptr) {
    last = product - 1;
  } else {
    for (int32_t i = 0; i < layout.ndim; ++i) {
      const int64_t stride = layout.strides[i];
      if (stride < 0) {
        return error->set(ErrorKind::kValueError, "strides[%d] is %lld; torch has no negative strides", i,
                          static_cast<long long>(stride));
      }
      if (layout.shape[i] > 0 && !add_product(&last, layout.shape[i] - 1, stride)) {
        return error->set(ErrorKind::kValueError, "the distance to the last element overflows 63 bits");
      }
    }
  }
  int64_t span = element_bytes;
  if (!add_product(&span, last, element_bytes)) {
    return error->set(ErrorKind::kValueError, "the size in bytes overflows 63 bits");
  }
  *bytes = empty ? 0 : span;
  return true;
}

void fill_contiguous_strides(int32_t ndim, const int64_t* shape, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t i = ndim - 1; i >= 0; --i) {
    strides[i] = stride;
    if (shape[i] > 1) stride *= shape[i];
  }
}

}  // namespace dlx

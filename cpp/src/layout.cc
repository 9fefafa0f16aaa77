#include "layout.h"

#include <cstddef>

#include "overflow.h"

namespace dlx {
namespace {

bool add_product(int64_t* sum, int64_t a, int64_t b) {
  int64_t product;
  return !multiply_overflows(a, b, &product) && !add_overflows(*sum, product, sum);
}

bool refuse(const Source& source, Error* error, const char* what) {
  return error->set(ErrorKind::kValueError, "%s has %s: %s", source.name, what, source.remedy);
}

bool refuse_negative(const Source& source, Error* error, const char* what, int32_t dimension, int64_t value) {
  return error->set(ErrorKind::kValueError, "%s has %s[%d] = %lld, which is negative: %s", source.name, what, dimension,
                    static_cast<long long>(value), source.remedy);
}

}  // namespace

bool check_layout(const Layout& layout, int64_t element_bytes, const Source& source, int64_t* elements, int64_t* bytes,
                  Error* error) {
  if (layout.ndim < 0) {
    return error->set(ErrorKind::kValueError, "%s has ndim = %d, which is negative: %s", source.name, layout.ndim,
                      source.remedy);
  }
  if (layout.ndim > 0 && layout.shape == nullptr) {
    return error->set(ErrorKind::kValueError, "%s has shape = NULL and ndim = %d: %s", source.name, layout.ndim,
                      source.remedy);
  }
  // torch computes contiguous strides with sizes of 0 taken as 1, so that product must fit too.
  int64_t product = 1;
  bool empty = false;
  for (int32_t i = 0; i < layout.ndim; ++i) {
    const int64_t size = layout.shape[i];
    if (size < 0) return refuse_negative(source, error, "shape", i, size);
    empty = empty || size == 0;
    if (multiply_overflows(product, size == 0 ? 1 : size, &product)) {
      return refuse(source, error, "more elements than fit in 63 bits");
    }
  }
  *elements = empty ? 0 : product;
  int64_t last = 0;  // the distance to the last element, in elements
  if (layout.strides == nullptr) {
    last = product - 1;
  } else {
    for (int32_t i = 0; i < layout.ndim; ++i) {
      const int64_t stride = layout.strides[i];
      // torch has no tensors with negative strides.
      if (stride < 0) return refuse_negative(source, error, "strides", i, stride);
      if (layout.shape[i] > 0 && !add_product(&last, layout.shape[i] - 1, stride)) {
        return refuse(source, error, "strides whose last element lies further away than fits in 63 bits");
      }
    }
  }
  int64_t span = element_bytes;
  if (!add_product(&span, last, element_bytes)) {
    return refuse(source, error, "more bytes than fit in 63 bits");
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

std::vector<int64_t> strides_of(const Layout& layout) {
  if (layout.strides != nullptr) return {layout.strides, layout.strides + layout.ndim};
  std::vector<int64_t> strides(static_cast<size_t>(layout.ndim));
  fill_contiguous_strides(layout.ndim, layout.shape, strides.data());
  return strides;
}

}  // namespace dlx

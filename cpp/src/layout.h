// The checks on a shape and strides that somebody else described, before anything is made from them.
#ifndef DLX_LAYOUT_H_
#define DLX_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "errors.h"
#include "geometry.h"

namespace dlx {

// Who described a layout, for the text of an error: what it is called, and who has to correct it.
struct Source {
  const char* name;
  const char* remedy;
};
constexpr Source kManagedTensor = {"the managed tensor", "its producer has to correct it"};
constexpr Source kPrototype = {"the prototype", "the caller has to correct it"};

// ValueError for a negative ndim, size or stride, a missing shape, and anything that does not fit in 63 bits. On success
// *elements is the product of the sizes and *bytes the distance from the first element to the end of the last one.
bool check_layout(const Layout& layout, int64_t element_bytes, const Source& source, int64_t* elements, int64_t* bytes,
                  Error* error);

// Row-major strides for a shape that check_layout has passed, `ndim` elements each; a size of 0 counts as 1, as torch has it.
void fill_contiguous_strides(int32_t ndim, const int64_t* shape, int64_t* strides);

// The strides of a layout that check_layout has passed, contiguous ones where it names none.
std::vector<int64_t> strides_of(const Layout& layout);

}  // namespace dlx

#endif  // DLX_LAYOUT_H_

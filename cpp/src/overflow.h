// Sums and products of numbers that are not negative, where they may not fit: each function is true, like the compilers' own, if the
// result does not. MSVC has none of those.
#ifndef DLX_OVERFLOW_H_
#define DLX_OVERFLOW_H_

#include <limits>

namespace dlx {

template <typename Integer>
bool add_overflows(Integer a, Integer b, Integer* sum) {
#if defined(_MSC_VER)
  if (b > std::numeric_limits<Integer>::max() - a) return true;
  *sum = a + b;
  return false;
#else
  return __builtin_add_overflow(a, b, sum);
#endif
}

template <typename Integer>
bool multiply_overflows(Integer a, Integer b, Integer* product) {
#if defined(_MSC_VER)
  if (b != 0 && a > std::numeric_limits<Integer>::max() / b) return true;
  *product = a * b;
  return false;
#else
  return __builtin_mul_overflow(a, b, product);
#endif
}

}  // namespace dlx

#endif  // DLX_OVERFLOW_H_

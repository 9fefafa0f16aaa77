// How Call converts numbers, texts and objects.
#ifndef DLX_SCALARS_H_
#define DLX_SCALARS_H_

#include <limits>

#include "tensor.h"

namespace dlx DLX_HIDDEN {

inline bool Call::take(int position, double* out) const {
  PyObject* object = given_[position];
  if (DLX_UNLIKELY(object == nullptr)) return missing(position);
  *out = PyFloat_AsDouble(object);
  return !DLX_UNLIKELY(*out == -1.0 && PyErr_Occurred()) || blame(position);
}

inline bool Call::take(int position, float* out) const {
  double value = 0;
  if (!take(position, &value)) return false;
  *out = static_cast<float>(value);
  return true;
}

inline bool Call::take(int position, bool* out) const {
  PyObject* object = given_[position];
  if (object == nullptr) return missing(position);
  *out = object == Py_True;
  return object == Py_True || object == Py_False ||
         fail_at(position, PyExc_TypeError, "is %R; True or False is needed", object);
}

inline bool Call::take(int position, const char** out) const {
  PyObject* object = given_[position];
  if (object == nullptr) return missing(position);
  if (!PyUnicode_Check(object)) return fail_at(position, PyExc_TypeError, "is %R; a str is needed", object);
  *out = PyUnicode_AsUTF8AndSize(object, nullptr);
  return *out != nullptr || blame(position);
}

inline bool Call::take(int position, PyObject** out) const {
  *out = given_[position];
  return *out != nullptr || missing(position);
}

template <class T, std::enable_if_t<std::is_integral_v<T>, int>>
bool Call::take(int position, T* out) const {
  static_assert(std::is_signed_v<T>, "take a signed integer and check that it is not negative");
  if (DLX_UNLIKELY(given_[position] == nullptr)) return missing(position);
  const long long value = PyLong_AsLongLong(given_[position]);
  if (DLX_UNLIKELY(value == -1 && PyErr_Occurred())) return blame(position);
  if (DLX_UNLIKELY(value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())) {
    return fail_at(position, PyExc_OverflowError, "is %lld, which has more than %d bits", value,
                   static_cast<int>(sizeof(T) * 8));
  }
  *out = static_cast<T>(value);
  return true;
}

}  // namespace dlx DLX_HIDDEN

#endif  // DLX_SCALARS_H_

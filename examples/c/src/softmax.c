#include <math.h>

#include "arguments.h"

static void softmax_row(const float* from, float* to, int64_t count) {
  float largest = -INFINITY, sum = 0;
  for (int64_t i = 0; i < count; ++i) largest = fmaxf(largest, from[i]);
  for (int64_t i = 0; i < count; ++i) sum += to[i] = expf(from[i] - largest);
  for (int64_t i = 0; i < count; ++i) to[i] /= sum;
}

PyObject* softmax(PyObject* module, PyObject* given, PyObject* keywords) {
  static char* names[] = {"x", "out", NULL};
  PyObject *x_object, *out_object = NULL, *result = NULL;
  dlx_view x = DLX_EMPTY_VIEW, out = DLX_EMPTY_VIEW;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(given, keywords, "O|$O:softmax", names, &x_object, &out_object)) return NULL;
  if (borrow_floats(x_object, "softmax: argument 'x'", 2, &x) < 0) return NULL;
  result = borrow_or_make(out_object, "softmax: argument 'out'", &x, &out);
  if (result != NULL) {
    const int64_t rows = x.tensor.shape[0], columns = x.tensor.shape[1];
    for (int64_t row = 0; row < rows; ++row) {
      softmax_row((const float*)dlx_data(&x) + row * columns, (float*)dlx_data(&out) + row * columns, columns);
    }
  }
  dlx_release(&out);
  dlx_release(&x);
  return result;
}

#include "arguments.h"

PyObject* saxpy(PyObject* module, PyObject* given, PyObject* keywords) {
  static char* names[] = {"a", "x", "y", "out", NULL};
  PyObject *x_object, *y_object, *out_object = NULL, *result = NULL;
  dlx_view x = DLX_EMPTY_VIEW, y = DLX_EMPTY_VIEW, out = DLX_EMPTY_VIEW;
  double a;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(given, keywords, "dOO|$O:saxpy", names, &a, &x_object, &y_object, &out_object))
    return NULL;
  if (borrow_floats(x_object, "saxpy: argument 'x'", 1, &x) == 0 &&
      borrow_floats(y_object, "saxpy: argument 'y'", 1, &y) == 0 && same_shape(&y, "saxpy: argument 'y'", &x)) {
    result = borrow_or_make(out_object, "saxpy: argument 'out'", &x, &out);
  }
  if (result != NULL) {
    const float *from_x = dlx_data(&x), *from_y = dlx_data(&y);
    float* to = dlx_data(&out);
    for (int64_t i = 0; i < x.tensor.shape[0]; ++i) to[i] = (float)a * from_x[i] + from_y[i];
  }
  dlx_release(&out);
  dlx_release(&y);
  dlx_release(&x);
  return result;
}

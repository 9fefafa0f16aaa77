/* The module, and what its kernels share. */
#include "arguments.h"

int borrow_floats(PyObject* object, const char* where, int ndim, dlx_view* view) {
  const DLTensor* tensor = &view->tensor;
  if (dlx_borrow_named(object, where, view) < 0) return -1;
  if (!dlx_on_host(tensor->device.device_type)) {
    dlx_error(PyExc_ValueError, "%s: is on an accelerator; the CPU is needed", where);
  } else if (tensor->dtype.code != kDLFloat || tensor->dtype.bits != 32 || tensor->dtype.lanes != 1) {
    dlx_error(PyExc_TypeError, "%s: float32 is needed", where);
  } else if (tensor->ndim != ndim) {
    dlx_error(PyExc_ValueError, "%s: has %d dimensions; %d are needed", where, tensor->ndim, ndim);
  } else if (!dlx_contiguous(tensor)) {
    dlx_error(PyExc_ValueError, "%s: is not contiguous", where);
  } else {
    return 0;
  }
  dlx_release(view);
  return -1;
}

int same_shape(const dlx_view* view, const char* where, const dlx_view* like) {
  for (int i = 0; i < like->tensor.ndim; ++i) {
    if (view->tensor.shape[i] != like->tensor.shape[i]) {
      dlx_error(PyExc_ValueError, "%s: its size %d is %lld; %lld is needed", where, i, (long long)view->tensor.shape[i],
                (long long)like->tensor.shape[i]);
      return 0;
    }
  }
  return 1;
}

PyObject* borrow_or_make(PyObject* out, const char* where, const dlx_view* like, dlx_view* view) {
  if (out == NULL || out == Py_None) {
    out = dlx_empty(like, like->tensor.dtype, like->tensor.shape, like->tensor.ndim);
  } else {
    Py_INCREF(out);
  }
  if (out == NULL) return NULL;
  if (borrow_floats(out, where, like->tensor.ndim, view) == 0) {
    if (same_shape(view, where, like)) return out;
    dlx_release(view);
  }
  Py_DECREF(out);
  return NULL;
}

static PyMethodDef methods[] = {
    {"saxpy", (PyCFunction)(void (*)(void))saxpy, METH_VARARGS | METH_KEYWORDS,
     "saxpy(a, x, y, *, out=None): a * x + y"},
    {"softmax", (PyCFunction)(void (*)(void))softmax, METH_VARARGS | METH_KEYWORDS,
     "softmax(x, *, out=None): of each row"},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "dlx_example_c", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_dlx_example_c(void) { return PyModuleDef_Init(&definition); }

/*
 * The kit's core in C11, for C and Cython; C++ has more in dlx/consumer.h.
 *
 *   dlx_view x = DLX_EMPTY_VIEW;
 *   void* stream;
 *   if (dlx_borrow_named(object, "scale: argument 1 'x'", &x) < 0) return NULL;
 *   if (dlx_stream(&x, &stream) < 0) { dlx_release(&x); return NULL; }
 *   launch(dlx_data(&x), x.tensor.shape, stream);
 *   dlx_release(&x);
 *
 * The headers stand alone over Python.h and dlpack/dlpack.h: copy the folders dlx and dlpack into another project as
 * they are (Apache-2.0). Nothing of dlx-torch-ext is needed when it runs.
 */
#ifndef DLX_CONSUMER_CORE_H_
#define DLX_CONSUMER_CORE_H_

#include "core/make.h"

/* Where the elements begin. dlpack.h: `byte_offset` points to the beginning of the data. */
DLX_INLINE void* dlx_data(const dlx_view* view) { return (char*)view->tensor.data + view->tensor.byte_offset; }

/* dlx_borrow; an error begins with `where`. */
DLX_INLINE int dlx_borrow_named(PyObject* object, const char* where, dlx_view* view) {
  PyObject* text;
  if (dlx_borrow(object, view) == 0) return 0;
  text = PyUnicode_FromString(where);
  dlx_error_at(text);
  Py_XDECREF(text);
  return -1;
}

/* Whether the elements follow each other as in C, without gaps. */
DLX_INLINE int dlx_contiguous(const DLTensor* tensor) {
  int64_t dense = 1;
  int i, is = 1;
  for (i = tensor->ndim - 1; i >= 0; --i) {
    if (tensor->strides != NULL && tensor->strides[i] != dense && tensor->shape[i] != 1) is = 0;
    dense *= tensor->shape[i];
  }
  return is || dense == 0;
}

#endif /* DLX_CONSUMER_CORE_H_ */

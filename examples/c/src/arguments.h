/* What both kernels ask of their arguments: float32 on the host, without gaps; and where their result goes. */
#ifndef ARGUMENTS_H_
#define ARGUMENTS_H_

#include <dlx/consumer_core.h>

/* Borrows `object`, whose name in errors is `where`. 0, or -1 with an exception; then the view owns nothing. */
int borrow_floats(PyObject* object, const char* where, int ndim, dlx_view* view);

/* Whether `view` has the sizes of `like`. */
int same_shape(const dlx_view* view, const char* where, const dlx_view* like);

/*
 * Borrows `out`, or makes a tensor like `like` if it is NULL or None. A new reference to the object that the function returns at the end,
 * with the view of it; NULL with an exception.
 */
PyObject* borrow_or_make(PyObject* out, const char* where, const dlx_view* like, dlx_view* view);

PyObject* saxpy(PyObject* module, PyObject* given, PyObject* keywords);
PyObject* softmax(PyObject* module, PyObject* given, PyObject* keywords);

#endif

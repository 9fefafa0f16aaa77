# cython: language_level=3
"""saxpy and a softmax of rows for float32 tensors on the CPU, over the kit's core in C."""

from libc.math cimport INFINITY, expf
from libc.stdint cimport int64_t, uint8_t, uint16_t

cdef extern from "dlx/consumer_core.h":
    ctypedef struct DLDevice:
        int device_type
    ctypedef struct DLDataType:
        uint8_t code, bits
        uint16_t lanes
    ctypedef struct DLTensor:
        DLDevice device
        int ndim
        DLDataType dtype
        int64_t* shape
    ctypedef struct dlx_view:
        DLTensor tensor
    enum:
        kDLFloat
    int dlx_borrow_named(object tensor, const char* where, dlx_view* view) except -1
    void dlx_release(dlx_view* view)
    int dlx_on_host(int device_type)
    int dlx_contiguous(const DLTensor* tensor)
    void* dlx_data(const dlx_view* view)
    object dlx_empty(const dlx_view* like, DLDataType dtype, const int64_t* shape, int ndim)


cdef class Floats:
    """A borrowed view of an argument, checked; the object is the caller's, who holds it."""

    cdef dlx_view view

    def __cinit__(self, object tensor, str where, int ndim):
        dlx_borrow_named(tensor, where.encode(), &self.view)
        cdef DLTensor* seen = &self.view.tensor
        if not dlx_on_host(seen.device.device_type):
            raise ValueError(f"{where}: is on an accelerator; the CPU is needed")
        if seen.dtype.code != kDLFloat or seen.dtype.bits != 32 or seen.dtype.lanes != 1:
            raise TypeError(f"{where}: float32 is needed")
        if seen.ndim != ndim:
            raise ValueError(f"{where}: has {seen.ndim} dimensions; {ndim} are needed")
        if not dlx_contiguous(seen):
            raise ValueError(f"{where}: is not contiguous")

    def __dealloc__(self):
        dlx_release(&self.view)

    cdef float* data(self):
        return <float*>dlx_data(&self.view)

    cdef int64_t size(self, int i):
        return self.view.tensor.shape[i]

    cdef int like(self, str where, Floats other) except -1:
        cdef int i
        for i in range(other.view.tensor.ndim):
            if self.size(i) != other.size(i):
                raise ValueError(f"{where}: its size {i} is {self.size(i)}; {other.size(i)} is needed")
        return 0

    cdef object empty(self):
        """A new tensor of the same framework, dtype and shape."""
        return dlx_empty(&self.view, self.view.tensor.dtype, self.view.tensor.shape, self.view.tensor.ndim)


def saxpy(float a, object x, object y, *, object out=None):
    """a * x + y"""
    cdef Floats from_x = Floats(x, "saxpy: argument 'x'", 1), from_y = Floats(y, "saxpy: argument 'y'", 1)
    from_y.like("saxpy: argument 'y'", from_x)
    result = from_x.empty() if out is None else out
    cdef Floats to = Floats(result, "saxpy: argument 'out'", 1)
    to.like("saxpy: argument 'out'", from_x)
    cdef float* x_data = from_x.data()
    cdef float* y_data = from_y.data()
    cdef float* to_data = to.data()
    cdef int64_t i
    for i in range(from_x.size(0)):
        to_data[i] = a * x_data[i] + y_data[i]
    return result


def softmax(object x, *, object out=None):
    """of each row"""
    cdef Floats source = Floats(x, "softmax: argument 'x'", 2)
    result = source.empty() if out is None else out
    cdef Floats to = Floats(result, "softmax: argument 'out'", 2)
    to.like("softmax: argument 'out'", source)
    cdef int64_t row, columns = source.size(1)
    for row in range(source.size(0)):
        softmax_row(source.data() + row * columns, to.data() + row * columns, columns)
    return result


cdef void softmax_row(const float* source, float* to, int64_t count) noexcept:
    cdef float largest = -INFINITY, total = 0
    cdef int64_t i
    for i in range(count):
        largest = max(largest, source[i])
    for i in range(count):
        to[i] = expf(source[i] - largest)
        total += to[i]
    for i in range(count):
        to[i] /= total

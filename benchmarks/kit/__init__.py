"""What a call costs an author of kernels: the kit beside a function of Python, a plain extension, pybind11, tvm-ffi."""

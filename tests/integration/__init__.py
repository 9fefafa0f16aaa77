"""Tests with the torch, the torch extensions and the tvm-ffi of this interpreter."""

"""Tests on the torch, torch extensions and tvm-ffi of this interpreter."""

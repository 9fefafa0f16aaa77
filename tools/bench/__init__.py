"""./dev bench: what the five functions and calls through tvm-ffi cost, with each provider of a table, in one run."""

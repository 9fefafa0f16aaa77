"""The five functions on inputs that nobody wrote: target.cc makes them of bytes, and the bytes come from libFuzzer
(`./dev fuzz`) or from a generator with a seed (the contract's test of it)."""

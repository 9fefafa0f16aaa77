"""./dev test: which sessions there are, the environments they run in, and one run of pytest in each."""

"""./dev test: the test sessions, the environments that they run in, and one run of pytest for each."""

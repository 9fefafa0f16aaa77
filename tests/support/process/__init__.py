"""A test's code in a process of its own."""

"""A test's code in a process of its own, so that a crash fails one test and no import or setting is left behind.

- `spawn`: a new interpreter, for the import of torch, the environment variables and the end of the interpreter.
- `fork`: a fork of this process. It takes milliseconds, and what is imported here is imported there.
- `marker`: the pytest marker `isolated`, which runs a whole test in a fork.

A test passes a function of `tests/snippets` and its arguments; they and the result go through JSON. This module imports
nothing, because a new interpreter imports it, and some tests count what is imported there.
"""

"""The rules for the five functions of the exchange table, a file for each function or idea."""

# torch imports this at the first fake tensor or transform, which takes seconds: once here, not in every forked test.
import torch._dynamo  # noqa: F401

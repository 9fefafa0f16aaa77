"""The rules for the five functions of the exchange table. Each file has those of one function or idea."""

# torch imports this for the first fake tensor or transform. It takes seconds, so here and not in the fork of each test.
import torch._dynamo  # noqa: F401

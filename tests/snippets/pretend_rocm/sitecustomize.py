"""On PYTHONPATH, torch says in each process that it was built for ROCm."""

from tests.snippets.attach import pretend_built_for

pretend_built_for("rocm")

"""What tests run in a process of its own (tests/support/process): functions whose arguments and results are JSON.

If the import itself is under test, as that of torch is, the function imports; the module does not.
"""

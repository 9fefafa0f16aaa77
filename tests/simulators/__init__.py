"""Vendor runtimes of our own, so that accelerator builds of torch run where there is no accelerator."""

"""Small libraries that replace vendors' runtimes, so that accelerator builds of torch run without an accelerator."""

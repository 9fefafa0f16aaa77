"""The SDK of a torch release: the headers and link stubs that compiling against it takes, out of its wheel."""

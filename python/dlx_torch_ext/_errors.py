"""The errors and the warning of this package. The five functions of a table raise Python's own kinds of errors."""

from __future__ import annotations

_DAMAGED = "dlx-torch-ext is damaged"


class Error(Exception):
    """Above every error of this package. The first line of its text says what is wrong and what to do."""


class AttachError(Error, RuntimeError):
    """`attach(strict=True)` ended without a table, or without the library that DLX_TORCH_LIBRARY names; the text says
    why, in one line."""


class BuildError(Error):
    """`dlx-torch build` made no library. The first line of the text says why and what to do; the others are output of a
    compiler."""


class AttachWarning(RuntimeWarning):
    """The category of every warning of this package, for `warnings.filterwarnings`."""


def damaged(error: Exception) -> ImportError:
    """What is raised for an `error` that only a damaged installation causes: an ImportError, because the callers of an
    optional package expect that. An error that this function has made stays as it is."""
    if isinstance(error, ImportError) and str(error).startswith(_DAMAGED):
        return error
    return ImportError(f"{_DAMAGED} ({type(error).__name__}: {error}): reinstall it", name=__package__)

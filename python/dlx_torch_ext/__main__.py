"""`python -m dlx_torch_ext` does the same as the command `dlx-torch`."""

from __future__ import annotations

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())

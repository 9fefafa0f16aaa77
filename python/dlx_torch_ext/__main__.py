"""`python -m dlx_torch_ext` is `dlx-torch`."""

from __future__ import annotations

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())

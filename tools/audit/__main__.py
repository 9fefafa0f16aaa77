"""The audit where ./dev does not run: python -m tools.audit WHEEL ... The wheels are to be released, so whole ones."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.audit import main
from tools.settings import ToolError

if __name__ == "__main__":
    try:
        sys.exit(main(argparse.Namespace(wheels=[Path(name) for name in sys.argv[1:]], whole=True, json=False)))
    except ToolError as error:
        sys.exit(str(error))

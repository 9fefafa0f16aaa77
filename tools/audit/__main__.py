"""The audit without ./dev: python -m tools.audit WHEEL ... Its callers release the wheels, so each must be complete."""

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

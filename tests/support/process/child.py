"""What `spawn` runs in the new interpreter: `python -m tests.support.process.child MODULE:FUNCTION ARGUMENTS ANSWER`.

ARGUMENTS is a JSON array; the result of the function is written to the file ANSWER as JSON. Tests count what is
imported after the function has begun, so as little as possible is imported here.
"""

from __future__ import annotations

import importlib
import json
import sys


def main(function_name: str, arguments: str, answer: str) -> None:
    module, _, name = function_name.partition(":")
    result = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    with open(answer, "w", encoding="utf-8") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

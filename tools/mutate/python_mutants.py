"""The mutants of Python modules, by the operators of cosmic-ray."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutate.mutant import Mutant, between

# The modules that decide, and those that open libraries and attach tables.
FILES = tuple(
    f"python/dlx_torch_ext/{name}.py"
    for name in (
        "_attach",
        "_cache",
        "_capsule",
        "_elf",
        "_facts",
        "_installed",
        "_layout",
        "_load",
        "_locate",
        "_release",
        "_resolve",
        "_selftest",
        "_settings",
        "_variants",
    )
)


@dataclass(frozen=True)
class Place:
    """The n-th place of a file that an operator of cosmic-ray changes. Made cheaply, so that a sample of them is."""

    file: str
    operator: str
    occurrence: int

    def mutant(self, root: Path) -> Mutant | None:
        """The mutant; None where it changes nothing but annotations, which nobody evaluates, or is not Python."""
        from cosmic_ray.mutating import mutate_code

        source = (root / self.file).read_text(encoding="utf-8")
        mutated = mutate_code(source, _operators()[self.operator](), self.occurrence)
        return between(self.file, source, mutated) if mutated is not None and differs(source, mutated) else None


def candidates(root: Path, files: tuple[str, ...] = FILES) -> Iterator[Place]:
    """Every place of the files that an operator changes."""
    from cosmic_ray.ast import ast_nodes, get_ast

    operators = {name: operator() for name, operator in _operators().items()}
    for file in files:
        nodes = list(ast_nodes(get_ast((root / file).read_text(encoding="utf-8"))))
        for name, operator in operators.items():
            count = sum(len(list(operator.mutation_positions(node))) for node in nodes)
            yield from (Place(file, name, number) for number in range(count))


def differs(source: str, mutated: str) -> bool:
    """Whether the mutant is Python that does something else. The mark of keyword arguments is no multiplication."""
    try:
        return code(source) != code(mutated)
    except SyntaxError:
        return False


def code(source: str) -> str:
    """The code of a module without what is not evaluated: annotations, under `from __future__ import annotations`."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def _operators() -> dict[str, Any]:
    """The operators that need no arguments, by name."""
    from cosmic_ray.plugins import get_operator, operator_names

    classes = {name: get_operator(name) for name in operator_names()}
    return {name: it for name, it in classes.items() if not it.arguments()}

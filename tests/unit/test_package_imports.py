"""The imports inside the package: no module imports itself through others, and only the command line imports _cli."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import dlx_torch_ext

PACKAGE = "dlx_torch_ext"
FOLDER = Path(dlx_torch_ext.__file__).parent
FILES = [path for path in FOLDER.rglob("*.py") if not {"_lib", "_src"} & set(path.relative_to(FOLDER).parts)]


def module_name(path: Path) -> str:
    parts = (PACKAGE, *path.relative_to(FOLDER).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def imported_by(module: str) -> Iterator[str]:
    """The modules of the package that this one names in an import: at the top, in a function or for types only."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: 1 - node.level or None] if node.level else []
            source = ".".join([*parents, *filter(None, [node.module])])
            for alias in node.names:  # `from . import _facts` names a module, `from ._facts import read` a function
                name = f"{source}.{alias.name}"
                yield from (it for it in ([name] if name in MODULES else [source]) if it in MODULES)
    if module == PACKAGE:  # its public names are imported when somebody asks for them
        yield from (f"{PACKAGE}.{name}" for name in dlx_torch_ext._MODULE_OF.values())


IMPORTS = {module: set(imported_by(module)) for module in MODULES}


def test_the_imports_are_seen() -> None:
    assert IMPORTS["dlx_torch_ext._autoload"] >= {"dlx_torch_ext._settings", "dlx_torch_ext._attach"}
    assert IMPORTS["dlx_torch_ext._cli.child"] >= {"dlx_torch_ext._selftest", "dlx_torch_ext._capsule"}
    assert IMPORTS["dlx_torch_ext._cli.report"] >= {"dlx_torch_ext", "dlx_torch_ext._cli.findings"}
    assert IMPORTS["dlx_torch_ext"] >= {"dlx_torch_ext._api", "dlx_torch_ext._facts"}


def test_no_module_leads_back_to_itself() -> None:
    left = dict(IMPORTS)
    while True:
        imported = {it for module in left for it in left[module] - {module}}
        in_no_circle = {m for m in left if not left[m] & left.keys() or (m not in imported and m not in left[m])}
        if not in_no_circle:
            break
        left = {module: left[module] for module in left.keys() - in_no_circle}
    assert {module: sorted(imports & left.keys()) for module, imports in left.items()} == {}


def test_only_the_command_line_imports_from_cli() -> None:
    cli = f"{PACKAGE}._cli"
    others = {module for module in MODULES if module != cli and not module.startswith(f"{cli}.")}
    assert {module for module in others for it in IMPORTS[module] if it == cli or it.startswith(f"{cli}.")} == {
        f"{PACKAGE}.__main__"
    }

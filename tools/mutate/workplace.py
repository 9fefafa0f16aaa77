"""A copy of the checkout where mutants are made and tested, so that the checkout itself stays as it is."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.mutate.mutant import Mutant
from tools.settings import ROOT, ToolError

_NOT_COPIED = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".venv", "_lib")
_NOT_COPIED_AT_THE_TOP = ("build", "dist")


class Workplace:
    """`folder`/checkout, in which at most one file is mutated at a time. The package in it is what tests import."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        shutil.copytree(ROOT, self.checkout, ignore=_not_copied, symlinks=True)

    @property
    def package_path(self) -> Path:
        """The folder that the package is in, with its entry point, by which torch finds it."""
        return self.checkout / "python"

    def register_entry_point(self) -> None:
        """What an installation would have: torch looks for the entry point, and the doctor for the version."""
        metadata = self.package_path / "dlx_torch_ext-0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dlx-torch-ext\nVersion: 0\n", encoding="utf-8")
        entry_point = "[torch.backends]\ndlx_torch_ext = dlx_torch_ext._autoload:autoload\n"
        (metadata / "entry_points.txt").write_text(entry_point, encoding="utf-8")

    def apply(self, mutant: Mutant) -> None:
        path = self.checkout / mutant.file
        path.write_text(mutant.apply(path.read_text(encoding="utf-8")), encoding="utf-8")

    def restore(self, mutant: Mutant) -> None:
        shutil.copyfile(self.folder / "original" / mutant.file, self.checkout / mutant.file)

    def forget_bytecode(self) -> None:
        """Removes the package's bytecode: CPython would take it for a mutant's of the same size and second."""
        shutil.rmtree(self.package_path / "dlx_torch_ext" / "__pycache__", ignore_errors=True)

    def keep_originals(self, files: tuple[str, ...]) -> None:
        """Keeps copies of the files that will be mutated."""
        for file in files:
            source, kept = self.checkout / file, self.folder / "original" / file
            if not source.exists():
                raise ToolError(f"./dev mutate changes {file}, which is not here: correct the list in tools/mutate")
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, kept)


def _not_copied(folder: str, names: list[str]) -> set[str]:
    at_the_top = _NOT_COPIED_AT_THE_TOP if Path(folder) == ROOT else ()
    return {*_NOT_COPIED(folder, names), *at_the_top}

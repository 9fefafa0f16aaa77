"""What is made from variants.toml and kept in the repository: that a stale one is found, and made again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import matrix
from tools.docs import compatibility, generated
from tools.settings import ROOT, ToolError

PAGES = ("README.md", "docs/compatibility.md")


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


class TestStale:
    def test_the_repository_is_not(self) -> None:
        assert generated.stale() == []

    def test_all_of_it_after_a_row_more(self, imaginary: Path) -> None:
        assert generated.stale(imaginary) == list(PAGES)

    @pytest.mark.parametrize(
        ("page", "old", "new"),
        [
            ("README.md", "| newer | any |", "| newer | 1 |"),
            ("docs/compatibility.md", "| 2.9.1 |", "| 2.9.0 |"),
            ("docs/compatibility.md", "| rocm | yes |", "| rocm | - |"),
        ],
    )
    def test_a_page_that_says_something_else(self, page: str, old: str, new: str, checkout: Path) -> None:
        change(checkout / page, old, new)
        assert generated.stale(checkout) == [page]

    def test_the_other_words_of_a_page_are_free(self, checkout: Path) -> None:
        change(checkout / "README.md", "# dlx-torch-ext", "# dlx-torch-ext, or so")
        assert generated.stale(checkout) == []

    @pytest.mark.parametrize("page", PAGES)
    @pytest.mark.parametrize("marker", [r"<!-- \w+: made by .*-->\n", "<!-- end -->"])
    def test_a_page_without_markers(self, page: str, marker: str, checkout: Path) -> None:
        text = (checkout / page).read_text()
        (checkout / page).write_text(re.sub(marker, "", text))
        with pytest.raises(ToolError, match=rf"^{page}: the markers .* are there 0 times$"):
            generated.stale(checkout)

    def test_the_command_that_ci_runs(self, imaginary: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert generated.main(imaginary) == 1
        assert capsys.readouterr().err.splitlines() == [
            f"{page} differs from variants.toml: ./dev lint --fix makes it again" for page in PAGES
        ]
        generated.write(imaginary)
        assert generated.main(imaginary) == 0

    def test_lint_runs_that_command(self) -> None:
        """As a program of its own, since lint takes more than the tests have."""
        lint = (ROOT / "tools" / "lint.py").read_text()
        assert '[sys.executable, "-m", "tools.docs.generated"]' in lint


def test_written_again_only_the_tables_differ(imaginary: Path) -> None:
    before = {page: (imaginary / page).read_text().splitlines() for page in PAGES}
    generated.write(imaginary)
    assert generated.stale(imaginary) == []
    for page, lines in before.items():
        now = (imaginary / page).read_text().splitlines()
        assert [line for line in now if line not in lines] == [line for line in now if line.startswith("| 2.99 ")] != []
        assert [line for line in lines if line not in now] == []


class TestReleases:
    """The rows of the README: releases that are served alike share one."""

    @staticmethod
    def of(text: str, tmp_path: Path) -> list[list[str]]:
        (tmp_path / "variants.toml").write_text("schema = 1\n" + text + BACKENDS)
        return compatibility.by_release(matrix.read(tmp_path / "variants.toml"))[1:]

    def test_what_is_served_alike_and_follows(self, tmp_path: Path) -> None:
        rows = row("2.9", True) + row("2.10", True) + row("2.11", True)
        assert [it[:2] for it in self.of(rows, tmp_path)] == [["2.9-2.11", "1"], ["newer", "any"]]

    def test_a_gap_another_abi_and_another_table(self, tmp_path: Path) -> None:
        rows = row("2.5", False) + row("2.5", True) + row("2.6", True) + row("2.8", True) + row("2.9", True, "prefer")
        assert [it[:3] for it in self.of(rows, tmp_path)] == [
            ["2.5", "0, 1", "ours"],
            ["2.6", "1", "ours"],
            ["2.8", "1", "ours"],
            ["2.9", "1", 'torch\'s own; ours with `prefer="dlx"`'],
            ["newer", "any", "torch's own"],
        ]

    def test_a_backend_is_where_it_is_built_and_for_whom(self, tmp_path: Path) -> None:
        found = self.of(row("2.9", True) + row("2.10", True, "prefer"), tmp_path)
        assert [it[3:] for it in found] == [["cpu, npu", "cpu"], ["cpu, npu (overlay)", "cpu"], ["npu (overlay)", "-"]]


def row(torch: str, cxx11_abi: bool, serves: str = "default") -> str:
    values = {"torch": torch, "cxx11_abi": cxx11_abi, "std": 17, "sdk": f"{torch}.0"}
    values |= {"cpython": "3.9-3.12", "serves": serves}
    return "[[row]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())


BACKENDS = """
[backends.cpu]
links = ["c10"]
platforms = ["linux-x86_64", "macos-arm64"]
[backends.npu]
links = ["c10"]
platforms = ["linux-x86_64"]
serves = ["default"]
[overlay.npu]
platforms = ["linux-x86_64"]
"""


class TestWorkflows:
    def test_ci_takes_its_list_from_the_matrix(self) -> None:
        command = [sys.executable, "-m", "tools.matrix"]
        printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
        assert json.loads(printed) == {"include": matrix.tested(matrix.read())}
        workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
        assert "matrix=$(python -m tools.matrix)\n" in workflow
        assert "matrix: ${{ fromJSON(needs.wheel.outputs.matrix) }}" in workflow

    def test_a_wheel_is_built_for_every_platform(self) -> None:
        workflow = (ROOT / ".github" / "workflows" / "wheels.yml").read_text()
        build, _, _ = workflow.partition("runs-on:")
        assert re.findall(r"- platform: (\S+)", build) == matrix.read().platforms

    def test_every_release_is_tested_where_it_has_a_wheel(self) -> None:
        tested = [(it["torch"], it["python"]) for it in matrix.tested(matrix.read())]
        assert [python for torch, python in tested if torch == "2.4.1"] == ["3.9", "3.11"]
        assert [python for torch, python in tested if torch == "2.5.1"] == ["3.9", "3.11", "3.13"]
        assert [python for torch, python in tested if torch == "2.15.0"] == ["3.11", "3.13"]
        assert {torch for torch, _ in tested} == {row.sdk for row in matrix.read().rows.values()}
        assert len(tested) == len(set(tested))

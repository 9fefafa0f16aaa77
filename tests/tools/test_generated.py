"""The tables that are generated from variants.toml: a page with an outdated table is found and updated."""

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


def replace_once(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


class TestOutdatedPages:
    def test_the_repository_has_none(self) -> None:
        assert generated.outdated() == []

    def test_every_page_after_a_new_row(self, with_imaginary_row: Path) -> None:
        assert generated.outdated(with_imaginary_row) == list(PAGES)

    @pytest.mark.parametrize(
        ("page", "old", "new"),
        [
            ("README.md", "| newer | any |", "| newer | 1 |"),
            ("docs/compatibility.md", "| 2.9.1 |", "| 2.9.0 |"),
            ("docs/compatibility.md", "| rocm | yes |", "| rocm | - |"),
        ],
    )
    def test_a_page_with_a_changed_table(self, page: str, old: str, new: str, checkout: Path) -> None:
        replace_once(checkout / page, old, new)
        assert generated.outdated(checkout) == [page]

    def test_text_outside_the_tables_may_change(self, checkout: Path) -> None:
        replace_once(checkout / "README.md", "# dlx-torch-ext", "# dlx-torch-ext, or so")
        assert generated.outdated(checkout) == []

    @pytest.mark.parametrize("page", PAGES)
    @pytest.mark.parametrize("marker", [r"<!-- \w+: made by .*-->\n", "<!-- end -->"])
    def test_a_page_without_markers(self, page: str, marker: str, checkout: Path) -> None:
        text = (checkout / page).read_text()
        (checkout / page).write_text(re.sub(marker, "", text))
        with pytest.raises(ToolError, match=rf"^{page}: the markers .* must be there once; they are there 0 times$"):
            generated.outdated(checkout)

    def test_the_command_that_ci_runs(self, with_imaginary_row: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert generated.main(with_imaginary_row) == 1
        assert capsys.readouterr().err.splitlines() == [
            f"{page}: its tables differ from variants.toml or docs/hardware. Update them: ./dev lint --fix"
            for page in PAGES
        ]
        generated.write(with_imaginary_row)
        assert generated.main(with_imaginary_row) == 0

    def test_lint_runs_that_command(self) -> None:
        """This reads lint's source: importing it takes packages that the tests' environment does not have."""
        lint = (ROOT / "tools" / "lint.py").read_text()
        assert '[sys.executable, "-m", "tools.docs.generated"]' in lint


def test_an_update_changes_only_the_tables(with_imaginary_row: Path) -> None:
    before = {page: (with_imaginary_row / page).read_text().splitlines() for page in PAGES}
    generated.write(with_imaginary_row)
    assert generated.outdated(with_imaginary_row) == []
    for page, lines in before.items():
        now = (with_imaginary_row / page).read_text().splitlines()
        assert [line for line in now if line not in lines] == [line for line in now if line.startswith("| 2.99 ")] != []
        assert [line for line in lines if line not in now] == []


class TestReleases:
    """The rows of the table in README.md: consecutive release lines with the same cells share one row."""

    @staticmethod
    def rows(text: str, tmp_path: Path) -> list[list[str]]:
        (tmp_path / "variants.toml").write_text("schema = 1\n" + text + BACKENDS)
        return compatibility.by_release(matrix.read(tmp_path / "variants.toml"))[1:]

    def test_consecutive_lines_with_the_same_cells_share_a_row(self, tmp_path: Path) -> None:
        toml = row("2.9", True) + row("2.10", True) + row("2.11", True)
        assert [cells[:2] for cells in self.rows(toml, tmp_path)] == [["2.9-2.11", "1"], ["newer", "any"]]

    def test_a_gap_another_abi_or_another_table_starts_a_new_row(self, tmp_path: Path) -> None:
        toml = row("2.5", False) + row("2.5", True) + row("2.6", True) + row("2.8", True) + row("2.9", True, "prefer")
        assert [cells[:3] for cells in self.rows(toml, tmp_path)] == [
            ["2.5", "0, 1", "ours"],
            ["2.6", "1", "ours"],
            ["2.8", "1", "ours"],
            ["2.9", "1", 'torch\'s own; ours with `prefer="dlx"`'],
            ["newer", "any", "torch's own"],
        ]

    def test_a_backend_is_shown_where_it_is_built(self, tmp_path: Path) -> None:
        rows = self.rows(row("2.9", True) + row("2.10", True, "prefer"), tmp_path)
        assert [cells[3:] for cells in rows] == [
            ["cpu, npu", "cpu"],
            ["cpu, npu (overlay)", "cpu"],
            ["npu (overlay)", "-"],
        ]


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
    def test_ci_takes_its_list_from_variants_toml(self) -> None:
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
        tested = [(pair["torch"], pair["python"]) for pair in matrix.tested(matrix.read())]
        assert [python for torch, python in tested if torch == "2.4.1"] == ["3.9", "3.11"]
        assert [python for torch, python in tested if torch == "2.5.1"] == ["3.9", "3.11", "3.13"]
        assert [python for torch, python in tested if torch == "2.15.0"] == ["3.11", "3.13"]
        assert {torch for torch, _ in tested} == {row.sdk for row in matrix.read().rows.values()}
        assert len(tested) == len(set(tested))

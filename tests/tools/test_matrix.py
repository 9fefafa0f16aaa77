"""variants.toml: the errors that its reader reports, and other lists in the code that must agree with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from dlx_torch_ext import _cache, _cli, _variants
from dlx_torch_ext._cli import matrix as reader
from dlx_torch_ext._cli import target

from tests.snippets import import_cost
from tests.support.process import spawn
from tools import matrix
from tools.settings import ROOT, ToolError

ROW = """
[[row]]
torch = "2.9"
cxx11_abi = true
std = 17
sdk = "2.9.1"
cpython = "3.10-3.14"
serves = "default"
"""
GOOD = f"""schema = 1
{ROW}
[backends.cpu]
links = ["c10"]
platforms = ["linux-x86_64"]

[overlay.torch_npu]
platforms = ["linux-aarch64"]
"""

BROKEN = [
    ("schema = 1", "schema = 2", "schema 2 is unknown; write schema = 1"),
    ("schema = 1\n", "", "the file lacks schema; add what is missing"),
    ("schema = 1", "schema = 1\ncolour = 1", "the file has colour, which nothing reads; the keys are schema, row, "),
    ("schema = 1", "schema = ", "is not TOML (Invalid value (at line 1, column 10)); correct that place"),
    ("std = 17\n", "", "row 1 (torch 2.9) lacks std; add what is missing"),
    ("std = 17", "std = 17\ncxx11 = true", "row 1 (torch 2.9) has cxx11, which nothing reads; the keys are torch, "),
    ("std = 17", "std = true", "row 1 (torch 2.9): std is True; write a whole number"),
    ("cxx11_abi = true", "cxx11_abi = 1", "row 1 (torch 2.9): cxx11_abi is 1; write true or false"),
    ('torch = "2.9"', "torch = 2.9", "row 1: torch is 2.9; write a string"),
    ('torch = "2.9"', 'torch = "2.9.1"', "torch is '2.9.1'; write a release line such as 2.9"),
    ('sdk = "2.9.1"', 'sdk = "2.9"', "sdk is '2.9'; write a release such as 2.9.1"),
    ('sdk = "2.9.1"', 'sdk = "2.90.1"', "sdk 2.90.1 is no release of torch 2.9; take one of that line"),
    ('"3.10-3.14"', '"3.10"', "cpython is '3.10'; write the oldest and the newest, such as 3.10-3.14"),
    ('"default"', '"all"', "serves has 'all', which is unknown; known are default, prefer"),
    (ROW, ROW + ROW, "row 2 is torch2_9_cxx11 a second time; remove one of the two"),
    ('links = ["c10"]\n', "", "[backends.cpu] lacks links; add what is missing"),
    (
        '["c10"]',
        '["c10"]\nlinked = []',
        "[backends.cpu] has linked, which nothing reads; the keys are links, ",
    ),
    ('["c10"]', '"c10"', "[backends.cpu]: links is 'c10'; write a list of strings"),
    ('["c10"]', '["c10"]\nserves = ["overlay"]', "serves has 'overlay', which is unknown; known are default, prefer"),
    ("linux-x86_64", "linux-amd64", "[backends.cpu]: platforms has 'linux-amd64', which is unknown; known are linux-"),
    ('["linux-aarch64"]', '[]\nlinks = ["c10"]', "[overlay.torch_npu] has links, which nothing reads; the keys are pl"),
]


class TestErrors:
    @pytest.mark.parametrize(("old", "new", "message"), BROKEN, ids=[message[:40] for _, _, message in BROKEN])
    def test_an_error_is_one_line_with_the_file_the_problem_and_what_to_do(
        self, old: str, new: str, message: str, tmp_path: Path
    ) -> None:
        toml = tmp_path / "variants.toml"
        assert GOOD.count(old) == 1
        toml.write_text(GOOD.replace(old, new))
        with pytest.raises(ToolError) as error:
            matrix.read(toml)
        assert str(error.value).startswith(f"{toml}: ")
        assert message in str(error.value)
        assert len(str(error.value).splitlines()) == 1

    def test_the_file_that_these_break_is_accepted(self, tmp_path: Path) -> None:
        toml = tmp_path / "variants.toml"
        toml.write_text(GOOD)
        assert matrix.read(toml).files("linux-x86_64") == [("torch2_9_cxx11", "cpu")]

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(ToolError, match=r"variants\.toml: cannot be read \(No such file or directory\); is this"):
            matrix.read(tmp_path / "variants.toml")

    def test_cmake_gets_the_same_line_and_nothing_else(self, checkout: Path) -> None:
        with (checkout / "variants.toml").open("a") as toml:
            toml.write("colour = 1\n")
        command = [sys.executable, str(checkout / "cmake" / "variants.py"), "cmake", "Linux", "x86_64"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
        assert "[overlay.torch_npu] has colour, which nothing reads" in done.stderr


class TestTheFile:
    def test_the_rows_of_a_release_line_agree(self) -> None:
        """They differ only in the C++ ABI: torch's headers and wheels are the same for both."""
        rows = matrix.read().rows.values()
        without_abi = {(row.torch, row.std, row.sdk, row.cpython, row.serves) for row in rows}
        assert len(without_abi) == len({row.torch for row in rows})

    def test_the_rows_are_in_the_order_of_releases(self) -> None:
        """cmake/DlxTorchExact.cmake takes the C++ standard of the last row that is not newer than torch."""
        lines = [tuple(map(int, row.torch.split("."))) for row in matrix.read().rows.values()]
        assert lines == sorted(lines)


class TestCopiesInTheCode:
    """The package reads no TOML while torch is imported, so its code repeats some of variants.toml."""

    def test_backends_that_the_cache_may_hold(self) -> None:
        assert list(_cache.BACKENDS) == list(matrix.read().backends)

    def test_libraries_of_torch_that_tell_builds_apart(self) -> None:
        for name, backend in matrix.read().backends.items():
            called = [*_cache._CALLED, *([_cache._CALLED_BY[name]] if name in _cache._CALLED_BY else [])]
            assert {library for package, library in called if package == "torch"} == set(backend.links)

    def test_every_backend_has_its_source(self) -> None:
        sources = {file.stem for file in (ROOT / "cpp" / "src" / "backends").glob("*.cc")}
        assert set(matrix.read().backends) <= sources

    def test_systems_that_dlx_torch_build_compiles_for(self) -> None:
        """`dlx-torch build` compiles each backend for the systems that wheels are built for. It also compiles CUDA on
        Windows, from the user's own CUDA; no wheel has that."""
        compiled = {}
        for name, backend in matrix.read().backends.items():
            systems = dict.fromkeys(platform.partition("-")[0] for platform in backend.platforms)
            compiled[name] = {system for system in ("linux", "macos", "windows") if not target.refused_on(system, name)}
            assert compiled[name] - set(systems) == ({"windows"} if name == "cuda" else set())
            assert set(systems) <= compiled[name]
        assert compiled["cpu"] == {"linux", "macos", "windows"}

    def test_options_of_dlx_torch_build(self, capsys: pytest.CaptureFixture[str]) -> None:
        """There is an option for every backend but cpu, which is built without options."""
        with pytest.raises(SystemExit):
            _cli.main(["build", "--help"])
        words = capsys.readouterr().out.replace("[", " ").replace("]", " ").split()
        options = {word for word in words if word.startswith("--build-with-")}
        expected = {f"--build-with-{name.replace('_', '-')}" for name in matrix.read().backends if name != "cpu"}
        assert options == expected

    def test_kinds_of_rows_that_a_manifest_may_name(self) -> None:
        assert {row.serves for row in matrix.read().rows.values()} | {"overlay"} == set(_variants.SERVES)

    def test_platforms(self) -> None:
        assert set(matrix.read().platforms) == set(reader.PLATFORMS)


def test_import_torch_never_reads_it() -> None:
    """The modules that `import torch` loads import neither this reader nor a TOML parser."""
    loaded = set(spawn.call(import_cost.of_attaching, env={"PYTHONPATH": str(ROOT / "python")}))
    assert "dlx_torch_ext._attach" in loaded
    assert not {"tomllib", "tomli", "dlx_torch_ext._cli", "dlx_torch_ext._cli.matrix"} & loaded

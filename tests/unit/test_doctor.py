"""`dlx-torch`: exit codes, the verdict first, JSON of a stable shape, and a self-test that may crash."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import stub
from tests.support.installation import NO_TORCH, PLATFORM, Site, entry

CPU = [entry("2.9", True, "cpu"), entry("2.9", True, "cuda")]
WHOLE = "fake_torch.torch(whole=True)"
OWN = "fake_torch.torch_with_own_table('2.13.0')"
FOREIGN = "fake_torch.torch_with_own_table('2.9.1', foreign=True)"
FUNCTIONS = [
    "managed_tensor_allocator",
    "managed_tensor_from_py_object_no_sync",
    "managed_tensor_to_py_object_no_sync",
    "dltensor_from_py_object_no_sync",
    "current_work_stream",
]


def report(site: Site, *arguments: str, **env: str | None) -> tuple[int, dict[str, Any]]:
    finished = site.cli("doctor", "--json", *arguments, **env)
    return finished.status, json.loads(finished.stdout)


@pytest.mark.parametrize(
    ("torch", "code", "provider", "verdict"),
    [
        (WHOLE, 0, "dlx", "dlx-torch: torch 2.9.1+cpu has the table of dlx-torch-ext: torch2.9-cxx11-cpu"),
        (OWN, 0, "upstream", "dlx-torch: torch 2.13.0 has its own table; dlx-torch-ext has nothing to add"),
        (FOREIGN, 0, "foreign", "dlx-torch: torch 2.9.1 has another package's table: "),
        ("fake_torch.torch('2.2.0')", 1, "none", "dlx-torch: no table: torch 2.2.0 is older than 2.4"),
        (NO_TORCH, 1, "none", "dlx-torch: no table: torch is not installed"),
    ],
)
def test_verdict_and_exit_code(torch: str, code: int, provider: str, verdict: str, tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, torch)
    finished = site.cli("doctor")
    assert finished.status == code, str(finished)
    assert finished.stdout.startswith(verdict)
    assert finished.stderr == ""
    status, told = report(site)
    assert (status, told["status"]["provider"], told["in_use"]) == (code, provider, code == 0)
    assert finished.stdout.splitlines()[0] == f"dlx-torch: {told['verdict']}"


def test_json_has_this_shape(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    _, told = report(site, "--selftest", DLX_TORCH_NPU_DRAIN="0")
    library = str(site.package / "_lib" / CPU[0]["file"])
    assert list(told) == [
        *("schema", "version", "verdict", "in_use", "status", "facts", "settings", "findings", "autoload"),
        *("functions", "candidates", "selftest"),
    ]
    assert told["schema"] == 1
    assert told["findings"] == []
    assert told["status"] == {
        "provider": "dlx",
        "variant": "torch2.9-cxx11-cpu",
        "library": library,
        "backend": "cpu",
        "reason": "torch2.9-cxx11-cpu fits torch 2.9.1+cpu",
    }
    assert told["facts"] == {
        "torch": "2.9.1+cpu",
        "torch_problem": None,
        "release": True,
        "cxx11_abi": True,
        "build": "cpu",
        "torch_npu": None,
        "torch_npu_loaded": False,
        "libtorch_npu_loaded": False,
        "platform": PLATFORM,
        "python": ".".join(map(str, sys.version_info[:3])),
        "implementation": "cpython",
        "free_threaded": told["facts"]["free_threaded"],
    }
    assert told["settings"] == {
        "disable": False,
        "autoload": True,
        "prefer": "upstream",
        "library": "",
        "cache_dir": "",
        "npu_drain": False,
        "problem": "",
    }
    assert told["autoload"] == {"fired": True, "note": ""}
    assert [f["function"] for f in told["functions"]] == FUNCTIONS
    assert {f["library"] for f in told["functions"]} == {library}
    assert [(c["name"], c["accepted"]) for c in told["candidates"]] == [
        ("torch2.9-cxx11-cpu", True),
        ("torch2.9-cxx11-cuda", False),
        ("built here", False),
    ]
    assert {frozenset(c) for c in told["candidates"]} == {
        frozenset(("name", "provider", "backend", "library", "accepted", "reason"))
    }
    assert told["selftest"] == {"ok": True, "detail": "the torch2.9-cxx11-cpu table passed"}


def test_text_tells_facts_owners_and_candidates(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    text = site.cli("doctor", "--selftest", DLX_TORCH_NPU_DRAIN="0").stdout
    library = str(site.package / "_lib" / CPU[0]["file"])
    assert "torch            2.9.1+cpu, built for cpu, C++ ABI 1" in text
    assert "torch_npu        not installed" in text
    assert "npu_drain=False" in text
    assert all(f"{name:<38} {library}" in text for name in FUNCTIONS)
    assert "+ torch2.9-cxx11-cpu: torch2.9-cxx11-cpu fits torch 2.9.1+cpu" in text
    assert "- torch2.9-cxx11-cuda: for cuda, torch needs cpu here" in text
    assert text.rstrip().endswith("self-test passed: the torch2.9-cxx11-cpu table passed")


def test_libraries_passed_over_for_the_same_reason_share_a_line(tmp_path: Path) -> None:
    older = [entry("2.8", True, backend) for backend in ("cpu", "cuda")]
    text = Site(tmp_path, [*older, *CPU], WHOLE).cli("doctor").stdout
    line = "  - torch2.8-cxx11-cpu, torch2.8-cxx11-cuda: for torch 2.8, here is 2.9.1+cpu"
    assert [it for it in text.splitlines() if "torch2.8" in it] == [line]


def test_what_torch_prints_and_warns_does_not_reach_the_report(tmp_path: Path) -> None:
    noisy = "[print('python noise'), __import__('os').write(1, b'c noise\\n'), "
    noisy += f"__import__('warnings').warn('careful'), {WHOLE}][-1]"
    site = Site(tmp_path, CPU, noisy)
    finished = site.cli("doctor", "--json", "--selftest")
    assert json.loads(finished.stdout)["selftest"]["ok"] is True
    assert {"python noise", "c noise"} <= set(finished.stderr.splitlines())
    assert "careful" in finished.stderr


def test_warnings_as_errors_do_not_disturb_it(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    assert report(site, "--selftest", PYTHONWARNINGS="error")[0] == 0


def test_a_library_that_crashes_is_reported_with_its_signal(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    stub.library(site.package / "_lib" / CPU[0]["file"], "CRASH")
    status, told = report(site, "--selftest")
    assert status == 3
    assert told["selftest"]["ok"] is False
    assert signal.SIGSEGV.name in told["selftest"]["detail"]
    assert told["verdict"].startswith("self-test failed: ")
    assert "did not survive" in told["autoload"]["note"]
    assert told["status"]["provider"] == "none"
    finished = site.cli("doctor", "--selftest")
    assert finished.status == 3
    assert finished.stdout.startswith("dlx-torch: self-test failed: ")
    assert f"self-test FAILED: the self-test was killed by {signal.SIGSEGV.name}" in finished.stdout


def test_a_table_that_fails_is_not_attached_and_reported(tmp_path: Path) -> None:
    broken = f"[t := {WHOLE}, setattr(t, 'fake_export', lambda tensor, out: 0)][0]"
    status, told = report(Site(tmp_path, CPU, broken), "--selftest")
    assert status == 3
    assert "the self-test failed: data of an exported tensor" in told["selftest"]["detail"]
    assert told["in_use"] is False


@pytest.mark.parametrize("torch", [NO_TORCH, "fake_torch.torch('2.2.0')"])
def test_no_table_is_nothing_to_test(torch: str, tmp_path: Path) -> None:
    status, told = report(Site(tmp_path, CPU, torch), "--selftest")
    assert (status, told["selftest"]["ok"]) == (1, None)


def test_a_child_that_cannot_answer_is_a_failure(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, "[__import__('os')._exit(7)]")
    site_code = "from dlx_torch_ext._cli import child; print(__import__('json').dumps(child.run().as_dict()))"
    outcome = site.run(site_code).value
    assert (outcome["ok"], outcome["crashed"]) == (False, True)
    assert "ended with code 7" in outcome["detail"]


def test_pure_installation(tmp_path: Path) -> None:
    site = Site(tmp_path, None, WHOLE)
    finished = site.cli("doctor")
    assert finished.status == 1
    assert "DLX_TORCH_BUILD_NATIVE=1" in finished.stdout.splitlines()[0]
    listed = site.cli("list")
    assert listed.status == 1
    assert listed.stderr.startswith("dlx-torch: this installation of dlx-torch-ext is pure Python")
    assert len(listed.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("torch", "env", "words"),
    [
        ("fake_torch.torch('2.4.1')", {}, "torch 2.4.1 calls no extension at import"),
        ("fake_torch.torch()", {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, "TORCH_DEVICE_BACKEND_AUTOLOAD=0 keeps torch"),
        ("fake_torch.torch()", {"DLX_TORCH_AUTOLOAD": "0"}, "DLX_TORCH_AUTOLOAD=0"),
        ("fake_torch.torch()", {"DLX_TORCH_DISABLE": "1"}, "DLX_TORCH_DISABLE"),
    ],
)
def test_it_says_why_autoload_did_not_fire(torch: str, env: dict[str, str], words: str, tmp_path: Path) -> None:
    site = Site(tmp_path, [entry("2.9", True, "cpu"), entry("2.4", True, "cpu")])
    site.write_torch(torch, autoload=False)
    metadata = tmp_path / "dlx_torch_ext-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: dlx-torch-ext\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[torch.backends]\ndlx_torch_ext = dlx_torch_ext._autoload:autoload\n")
    status, told = report(site, **env)
    assert status == 1
    assert words in told["autoload"]["note"]
    assert words in told["verdict"]
    assert told["version"] == "0.1.0"


def test_a_setting_that_makes_no_sense_is_told(tmp_path: Path) -> None:
    text = Site(tmp_path, CPU, WHOLE).cli("doctor", DLX_TORCH_PREFER="mine").stdout
    assert "DLX_TORCH_PREFER=mine is neither upstream nor dlx" in text


def test_list_marks_the_one_that_fits(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    finished = site.cli("list")
    assert finished.status == 0
    assert finished.stdout.splitlines()[:2] == ["* torch2.9-cxx11-cpu", "  torch2.9-cxx11-cuda"]
    assert finished.stdout.splitlines()[-1] == "torch2.9-cxx11-cpu fits torch 2.9.1+cpu"


@pytest.mark.parametrize("torch", [NO_TORCH, OWN, "fake_torch.torch('2.2.0')"])
def test_list_marks_none_where_none_serves(torch: str, tmp_path: Path) -> None:
    finished = Site(tmp_path, CPU, torch).cli("list")
    assert finished.status == 0
    assert "*" not in finished.stdout
    assert finished.stdout.splitlines()[-1]


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["doctor", "--yaml"], ["list", "more"]])
def test_wrong_usage(arguments: list[str], tmp_path: Path) -> None:
    finished = Site(tmp_path, CPU, WHOLE).cli(*arguments)
    assert finished.status == 2
    assert "usage: dlx-torch" in finished.stderr


def test_python_m(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    code = "import runpy, sys; sys.argv[1:] = ['list']; runpy.run_module('dlx_torch_ext', run_name='__main__')"
    finished = site.run(code)
    assert (finished.status, finished.stdout.splitlines()[0]) == (0, "* torch2.9-cxx11-cpu")

"""`dlx-torch doctor`: its exit codes, the verdict, JSON of a stable shape, and that nothing it finds stops it."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest
from dlx_torch_ext._cli import child

from tests.snippets import on_fake_torch
from tests.support import stub
from tests.support.command import dlx_torch, report
from tests.support.installation import NO_TORCH, PLATFORM, Site, entry, record

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


@pytest.mark.parametrize(
    ("torch", "code", "provider", "verdict"),
    [
        (WHOLE, 0, "dlx", "dlx-torch: torch 2.9.1+cpu has the table of dlx-torch-ext: torch2.9-cxx11-cpu"),
        (OWN, 0, "upstream", "dlx-torch: torch 2.13.0 has its own table, and dlx-torch-ext leaves it alone"),
        (FOREIGN, 0, "foreign", "dlx-torch: torch 2.9.1 has another package's table: "),
        ("fake_torch.torch('2.2.0')", 1, "none", "dlx-torch: no table: torch 2.2.0 is older than 2.4"),
        (NO_TORCH, 1, "none", "dlx-torch: no table: torch is not installed"),
    ],
)
def test_verdict_and_exit_code(torch: str, code: int, provider: str, verdict: str, tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, torch)
    finished = dlx_torch(site, "doctor", COLUMNS="500")
    assert finished.status == code, str(finished)
    assert finished.stdout.startswith(verdict)
    assert finished.stderr == ""
    status, found = report(site)
    assert (status, found["status"]["provider"], found["in_use"]) == (code, provider, code == 0)
    assert finished.stdout.splitlines()[0] == f"dlx-torch: {found['verdict']}"


def test_json_has_this_shape(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    _, found = report(site, "--selftest", DLX_TORCH_NPU_DRAIN="0")
    library = str(site.package / "_lib" / CPU[0]["file"])
    assert list(found) == [
        *("schema", "version", "path", "verdict", "in_use", "status", "facts", "settings", "findings", "problems"),
        *("autoload", "functions", "candidates", "on_request", "selftest"),
    ]
    assert found["schema"] == 1
    assert found["path"] == str(site.package)
    assert found["findings"] == found["problems"] == []
    assert found["status"] == {
        "provider": "dlx",
        "variant": "torch2.9-cxx11-cpu",
        "library": library,
        "backend": "cpu",
        "reason": "torch2.9-cxx11-cpu fits torch 2.9.1+cpu",
    }
    assert found["facts"] == {
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
        "free_threaded": found["facts"]["free_threaded"],
        "torch_path": str(tmp_path / "torch.py"),
        "executable": sys.executable,
    }
    assert found["settings"] == {
        "disable": False,
        "autoload": True,
        "prefer": "upstream",
        "library": "",
        "cache_dir": "",
        "npu_drain": False,
        "npu_device_type": "ext_dev",
        "refuse_read_only": False,
        "problem": "",
    }
    assert found["autoload"] == {"fired": True, "note": ""}
    assert [f["function"] for f in found["functions"]] == FUNCTIONS
    assert {f["library"] for f in found["functions"]} == {library}
    assert [(c["name"], c["accepted"]) for c in found["candidates"]] == [
        ("torch2.9-cxx11-cpu", True),
        ("torch2.9-cxx11-cuda", False),
        ("built here", False),
    ]
    assert {frozenset(c) for c in found["candidates"]} == {
        frozenset(("name", "provider", "backend", "library", "accepted", "reason"))
    }
    assert found["on_request"] is None
    assert found["selftest"] == {"ok": True, "detail": "the torch2.9-cxx11-cpu table passed"}


@pytest.mark.parametrize(
    ("serves", "on_request"), [("prefer", "torch2.13-cxx11-cpu"), ("default", "torch2.13-cxx11-cpu"), (None, None)]
)
def test_json_names_the_library_that_is_taken_on_request(
    serves: str | None, on_request: str | None, tmp_path: Path
) -> None:
    fitting = [entry("2.13", True, "cpu", serves)] if serves else []
    site = Site(tmp_path, [*CPU, *fitting], OWN)
    assert report(site)[1]["on_request"] == on_request
    assert report(site, DLX_TORCH_PREFER="dlx")[1]["on_request"] is None
    shutil.rmtree(site.package / "_lib" / "torch2_13_cxx11", ignore_errors=True)
    assert report(site, DLX_TORCH_PREFER="dlx")[1]["on_request"] is None


def test_what_torch_prints_and_warns_does_not_reach_the_report(tmp_path: Path) -> None:
    noisy = "[print('python noise'), __import__('os').write(1, b'c noise\\n'), "
    noisy += f"__import__('warnings').warn('careful'), {WHOLE}][-1]"
    finished = dlx_torch(Site(tmp_path, CPU, noisy), "doctor", "--json", "--selftest")
    assert json.loads(finished.stdout)["selftest"]["ok"] is True
    assert {"python noise", "c noise"} <= set(finished.stderr.splitlines())
    assert "careful" in finished.stderr


def test_warnings_as_errors_do_not_disturb_it(tmp_path: Path) -> None:
    assert report(Site(tmp_path, CPU, WHOLE), "--selftest", PYTHONWARNINGS="error")[0] == 0


def test_a_library_that_crashes_is_reported_with_its_signal(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, WHOLE)
    stub.library(site.package / "_lib" / CPU[0]["file"], "CRASH")
    status, found = report(site, "--selftest")
    assert status == 3
    assert found["selftest"]["ok"] is False
    assert signal.SIGSEGV.name in found["selftest"]["detail"]
    assert found["verdict"].startswith("self-test failed: ")
    assert "the self-test crashed" in found["autoload"]["note"]
    assert found["status"]["provider"] == "none"
    finished = dlx_torch(site, "doctor", "--selftest")
    assert finished.status == 3
    assert finished.stdout.startswith("dlx-torch: self-test failed: ")
    assert f"self-test FAILED: the self-test was killed by {signal.SIGSEGV.name}" in finished.stdout


def test_a_table_that_fails_is_not_attached_and_reported(tmp_path: Path) -> None:
    broken = f"[t := {WHOLE}, setattr(t, 'fake_export', lambda tensor, out: 0)][0]"
    status, found = report(Site(tmp_path, CPU, broken), "--selftest")
    assert status == 3
    assert "the self-test failed: data of an imported and exported tensor" in found["selftest"]["detail"]
    assert found["in_use"] is False


@pytest.mark.parametrize("torch", [NO_TORCH, "fake_torch.torch('2.2.0')"])
def test_without_a_table_nothing_is_tested(torch: str, tmp_path: Path) -> None:
    status, found = report(Site(tmp_path, CPU, torch), "--selftest")
    assert (status, found["selftest"]["ok"]) == (1, None)


def test_a_child_that_cannot_answer_is_a_failure(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU, "[__import__('os')._exit(7)]")
    outcome = site.call(on_fake_torch.selftest_in_a_child)
    assert (outcome["ok"], outcome["crashed"]) == (False, True)
    assert "ended with code 7" in outcome["detail"]


def test_a_frozen_app_starts_itself_not_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sys.executable is the app, which would ask the doctor again, and so on."""
    monkeypatch.setattr("sys.frozen", True, raising=False)
    monkeypatch.setattr("sys.executable", "/not/to/be/started")
    outcome = child.run()
    assert (outcome.ok, outcome.crashed) == (None, False)
    assert "frozen app" in outcome.detail


def test_a_torch_that_does_not_import_has_a_place_and_a_reason(tmp_path: Path) -> None:
    site = Site(tmp_path, CPU)
    (tmp_path / "torch.py").write_text("raise ImportError('libc10.so: cannot open shared object file\\nmore')\n")
    status, found = report(site)
    assert status == 1
    assert "ImportError: libc10.so: cannot open shared object file" in found["verdict"]
    assert found["facts"]["torch_path"] == str(tmp_path / "torch.py")


def test_pure_installation(tmp_path: Path) -> None:
    finished = dlx_torch(Site(tmp_path, None, WHOLE), "doctor", COLUMNS="500")
    assert finished.status == 1
    assert "DLX_TORCH_BUILD_NATIVE=1" in finished.stdout.splitlines()[0]


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
    metadata = record(tmp_path, "dlx-torch-ext", "0.1.0")
    (metadata / "entry_points.txt").write_text("[torch.backends]\ndlx_torch_ext = dlx_torch_ext_autoload:__repr__\n")
    status, found = report(site, **env)
    assert status == 1
    assert words in found["autoload"]["note"]
    assert words in found["verdict"]
    assert found["version"] == "0.1.0"


def test_an_attribute_that_raises_does_not_end_the_doctor(tmp_path: Path) -> None:
    """Another package's descriptor in the place of the table."""
    raising = "type('Raising', (), {'__get__': lambda *_: 1 / 0})()"
    torch = f"[t := {WHOLE}, setattr(t.Tensor, '__dlpack_c_exchange_api__', {raising})][0]"
    site = Site(tmp_path, CPU, torch)
    for environment, code, provider in (({"DLX_TORCH_DISABLE": "1"}, 1, "none"), ({}, 0, "dlx")):
        status, found = report(site, **environment)
        assert (status, found["status"]["provider"]) == (code, provider)

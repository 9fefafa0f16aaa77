"""The simulated CUDA carries the torch of this interpreter, or says plainly that there is nothing to simulate."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulators.cuda import build, environment, installed_torch
from tests.support.process import spawn
from tests.support.process.finished import ROOT, Finished

CUDA_BUILD = bool(re.search(r"^cuda\b.*=\s*['\"]", (installed_torch() / "version.py").read_text(), re.MULTILINE))


def simulated(code: str, **env: str) -> Finished:
    """Run `code`, after the imports that all of it needs, with the simulated CUDA in the child's environment."""
    imports = "import json, torch\nfrom tests.simulators.cuda import recorder\n"
    return spawn.code(imports + code, env={**environment(), **env})


def command(torch_dir: Path, out: Path) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tests.simulators.cuda", "--torch", str(torch_dir), "--out", str(out)]
    return subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


if CUDA_BUILD:

    def test_two_devices_are_there() -> None:
        code = """if True:
            p = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())]
            print(json.dumps([torch.cuda.is_available(), [[x.name, x.major, x.minor, x.total_memory] for x in p]]))"""
        names = [f"Simulated CUDA device {i}" for i in (0, 1)]
        assert simulated(code).value == [True, [[name, 8, 0, 8 << 30] for name in names]]

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_the_number_of_devices_can_be_set(count: int) -> None:
        code = "print(json.dumps([torch.cuda.is_available(), torch.cuda.device_count()]))"
        assert simulated(code, DLX_SIM_CUDA_DEVICES=str(count)).value == [count > 0, count]

    def test_copies_keep_the_values() -> None:
        code = """if True:
            x = torch.arange(12.0).reshape(3, 4)
            for device in ("cuda:0", "cuda:1"):
                assert str(torch.empty(2, device=device).device) == device
                assert torch.equal(x.to(device).cpu(), x)
            y = x.to("cuda:0").to("cuda:1")
            assert y.data_ptr() != x.data_ptr() and torch.equal(y.cpu(), x)
            pinned = x.pin_memory()
            assert pinned.is_pinned() and pinned[1:].is_pinned() and not x.is_pinned()
            assert torch.equal(pinned.to("cuda:1", non_blocking=True).cpu(), x)
            torch.cuda.synchronize()
            print("true")"""
        assert simulated(code).value

    def test_streams_are_distinct_and_current_where_they_should_be() -> None:
        code = """if True:
            streams = [torch.cuda.Stream(device=i // 3, priority=-(i % 3)) for i in range(6)]
            handles = {s.cuda_stream for s in streams}
            assert len(handles) == 6 and 0 not in handles
            for s in streams:
                with torch.cuda.stream(s):
                    assert torch.cuda.current_device() == s.device_index
                    assert torch.cuda.current_stream().cuda_stream == s.cuda_stream
                assert torch.cuda.current_stream(s.device_index).cuda_stream == 0
            event = torch.cuda.Event()
            event.record(streams[0])
            streams[1].wait_event(event)
            assert event.query() and streams[1].query()
            print("true")"""
        assert simulated(code).value

    def test_errors_are_torchs_own() -> None:
        code = """if True:
            texts = []
            for make in (lambda: torch.empty(1 << 42, device="cuda:1"), lambda: torch.empty(1, device="cuda:7")):
                try:
                    make()
                except RuntimeError as error:
                    texts.append(f"{type(error).__name__}: {error}".splitlines()[0])
            torch.empty(1, device="cuda:1")  # neither error stays
            print(json.dumps(texts))"""
        memory, ordinal = simulated(code).value
        assert memory.startswith("OutOfMemoryError: CUDA out of memory")
        assert "invalid device ordinal" in ordinal

    def test_the_recorder_sees_every_call() -> None:
        code = """if True:
            torch.empty(1, device="cuda:0")
            recorder.reset()
            x = torch.empty(4, 4)[1:]
            none = recorder.calls()
            torch.empty(1 << 22, device="cuda:0")
            allocation = recorder.calls()
            recorder.reset()
            torch.empty(4, device="cuda:0").fill_(1.0)
            print(json.dumps([recorder.simulated(), none, allocation, recorder.calls()]))"""
        on, none, allocation, kernel = simulated(code).value
        assert on
        assert none == []
        assert "cudaMalloc" in allocation
        assert {"cudaLaunchKernel", "__cudaLaunchKernel"} & set(kernel)  # the second since CUDA 13

    def test_tvm_ffi_runs_on_it() -> None:
        code = """if True:
            import tvm_ffi
            x = torch.arange(12.0).reshape(3, 4).cuda(1)
            stream = torch.cuda.Stream(1)
            with torch.cuda.device(1):
                y = tvm_ffi.from_dlpack(x)
            with tvm_ffi.use_torch_stream(torch.cuda.stream(stream)):
                seen = tvm_ffi.get_raw_stream(tvm_ffi.device("cuda", 1))
            back = torch.from_dlpack(y)
            assert back.data_ptr() == x.data_ptr()
            print(json.dumps([str(y.device), str(back.device), seen == stream.cuda_stream]))"""
        # Without its add-on for torch, which it would compile where it is missing.
        assert simulated(code, TVM_FFI_DISABLE_TORCH_C_DLPACK="1").value == ["cuda:1", "cuda:1", True]

    def test_it_comes_before_nvidias_own_packages(tmp_path: Path) -> None:
        (tmp_path / "torch").symlink_to(installed_torch())
        (tmp_path / "nvidia").mkdir()
        env = environment(tmp_path / "torch")
        assert "libcudart.so" in env["LD_PRELOAD"]
        assert spawn.code("import torch; print(torch.cuda.device_count())", env=env).value == 2

    def test_processes_may_build_at_once(tmp_path: Path) -> None:
        running = [command(installed_torch(), tmp_path) for _ in range(2)]
        outputs = [process.communicate()[0].strip() for process in running]
        assert [process.returncode for process in running] == [0, 0]
        assert set(outputs) == {str(build(installed_torch(), tmp_path))}
        assert list(tmp_path.iterdir()) == [Path(outputs[0])]

else:

    def test_a_build_without_cuda_is_refused(tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="is not a CUDA build: nothing to simulate"):
            environment(cache=tmp_path)
        refused = command(installed_torch(), tmp_path)
        output, error = refused.communicate()
        assert (refused.returncode, output, len(error.splitlines())) == (2, "", 1)
        assert not list(tmp_path.iterdir())


def test_a_folder_without_torch_is_refused(tmp_path: Path) -> None:
    refused = command(tmp_path, tmp_path)
    _, error = refused.communicate()
    assert refused.returncode == 2
    assert "is not an installed torch" in error
    assert len(error.splitlines()) == 1


def test_the_recorder_says_where_nothing_is_simulated() -> None:
    code = """if True:
        from tests.simulators.cuda import recorder
        assert not recorder.simulated()
        recorder.calls()"""
    assert "the simulated CUDA is not loaded" in spawn.code(code).stderr

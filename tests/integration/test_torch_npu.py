"""Our table on Ascend: the real torch_npu of this interpreter, where there is one, on a simulated CANN."""

from __future__ import annotations

import importlib.util
import os
import textwrap
import warnings
from importlib.metadata import version
from typing import Any

import pytest

from tests.support.process import fork, spawn

TORCH = tuple(int(part) for part in version("torch").split(".")[:2])
PROVIDER = "overlay" if TORCH >= (2, 10) else "dlx"
# torch_npu sets the last one for its own import and, up to 2.11, leaves it.
CLEAN = dict.fromkeys(
    [
        "DLX_TORCH_DISABLE",
        "DLX_TORCH_AUTOLOAD",
        "DLX_TORCH_PREFER",
        "DLX_TORCH_LIBRARY",
        "TORCH_DEVICE_BACKEND_AUTOLOAD",
    ]
)


def on_ascend(code: str, **env: str | None) -> Any:
    """The snippet's `answer`, from a fork in which torch_npu has two simulated devices and our table is attached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what torch_npu's import has to say
        import tests.support.on_ascend

    assert tests.support.on_ascend.recorder.simulated(), "this process has not been started on a simulated Ascend"
    return fork.code(f"from tests.support.on_ascend import *\n{textwrap.dedent(code)}", env)


if importlib.util.find_spec("torch_npu"):

    def test_the_table_is_ours() -> None:
        answer = on_ascend("answer = [STATUS.provider, STATUS.backend, STATUS.reason]")
        assert answer[:2] == [PROVIDER, "torch_npu"], answer

    @pytest.mark.parametrize("first", ["torch", "torch_npu"])
    @pytest.mark.parametrize("autoload", ["0", "1"])
    def test_whatever_comes_first_an_attach_gives_the_same(first: str, autoload: str) -> None:
        code = f"""
            import json, {first}, torch, dlx_torch_ext
            print(json.dumps([dlx_torch_ext.attach().provider, dlx_torch_ext.status().variant.split("-")[-1]]))"""
        env = {**CLEAN, "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
        assert spawn.code(code, env=env).value == [PROVIDER, "torch_npu"]

    def test_import_torch_alone_attaches_where_torch_calls_its_extensions() -> None:
        code = "import json, torch, dlx_torch_ext; print(json.dumps(dlx_torch_ext.status().provider))"
        expected = PROVIDER if TORCH >= (2, 5) else "none"
        assert spawn.code(code, env={**CLEAN}).value == expected

    def test_without_cann_the_error_is_torchs_own() -> None:
        code = "import torch"
        with_us = spawn.code(code, env={**_without_cann(), **CLEAN})
        without = spawn.code(code, env={**_without_cann(), **CLEAN, "DLX_TORCH_DISABLE": "1"})
        assert with_us.status == without.status != 0
        last = with_us.stderr.strip().splitlines()[-1]
        assert last == without.stderr.strip().splitlines()[-1]
        assert "dlx" not in last

    def test_the_stream_is_the_current_one_of_each_device() -> None:
        answer = on_ascend("""
            default = seen()
            first, second = torch.npu.Stream("npu:0"), torch.npu.Stream("npu:1")
            with torch.npu.stream(first):
                one = seen()
                with torch.npu.stream(second):
                    both = seen()
            answer = [default == own() == seen(), None not in default, one == [first.npu_stream, default[1]],
                      both == [first.npu_stream, second.npu_stream], torch.npu.current_device()]""")
        assert answer == [True, True, True, True, 0]

    def test_the_stream_is_a_threads_own() -> None:
        answer = on_ascend("""
            import threading
            barrier, same = threading.Barrier(2), []
            def work():
                stream = torch.npu.Stream("npu:1")
                with torch.npu.stream(stream):
                    barrier.wait()
                    same.append(seen()[1] == stream.npu_stream)
                    barrier.wait()
            threads = [threading.Thread(target=work) for _ in range(2)]
            default = seen()
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            answer = [same, seen() == default]""")
        assert answer == [[True, True], True]

    def test_other_devices_are_answered_as_before() -> None:
        answer = on_ascend("""
            wrong = [told(lambda i=i: table().stream(EXT_DEV, i)) for i in (-1, 2, 127, 128, 1000)]
            answer = [table().stream(1, 0), *wrong]""")
        assert answer[0] is None
        assert [kind for kind, _ in answer[1:]] == ["RuntimeError"] * 5
        assert all(text.startswith("dlx-torch: ") and "\n" not in text for _, text in answer[1:])

    @pytest.mark.parametrize("current", [0, 1])
    @pytest.mark.parametrize(("setting", "waits"), [(None, True), ("1", True), ("0", False)])
    def test_the_queue_is_drained_unless_told_not_to(setting: str | None, waits: bool, current: int) -> None:
        answer = on_ascend(
            f"""
            x = settled("npu:1")
            ask = table()
            ask.stream(EXT_DEV, 1)
            torch.npu.set_device({current})
            answer = [recorder.drained(lambda: x.add_(x), lambda: ask.stream(EXT_DEV, 1)), torch.npu.current_device()]
            torch.npu.synchronize(1)""",
            DLX_TORCH_NPU_DRAIN=setting,
        )
        assert answer == [waits, current]

    def test_a_queue_that_cannot_be_waited_for_is_an_error_never_null() -> None:
        kind, text = on_ascend("""
            x = settled("npu:1")
            torch.npu.set_device(1)
            ask = table()
            recorder.slow_queue(0.5)
            x.add_(x)
            with recorder.broken_queue():
                answer = told(lambda: ask.stream(EXT_DEV, 1))
            recorder.slow_queue(0)""")
        assert kind == "RuntimeError"
        assert text.startswith("dlx-torch: ")
        assert "queue" in text

    def test_a_failed_queue_is_an_error() -> None:
        kind, text = on_ascend("""
            x = settled("npu:1")
            torch.npu.set_device(1)
            ask = table()
            recorder.failed(lambda: x.add_(x))
            answer = told(lambda: ask.stream(EXT_DEV, 1))""")
        assert kind == "RuntimeError"
        assert text.startswith("dlx-torch: ")
        assert "\n" not in text

    def test_without_libtorch_npu_the_stream_is_an_error() -> None:
        code = """
            import json, torch, dlx_torch_ext
            dlx_torch_ext.attach()
            from tests.support.table import Table, capsule_address
            table = Table(capsule_address(torch.Tensor.__dlpack_c_exchange_api__))
            outcome, _ = table.try_stream(12, 0)
            print(json.dumps([outcome.rc, type(outcome.error).__name__, str(outcome.error)]))"""
        rc, kind, text = spawn.code(code, env={**_without_cann(), **CLEAN, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}).value
        assert (rc, kind) == (-1, "RuntimeError")
        assert text == "dlx-torch: libtorch_npu is not loaded: import torch_npu first"

    def test_tensors_go_out_and_come_back_with_torch_npus_own_storage() -> None:
        answer = on_ascend("""
            x = torch.empty(3, 4, dtype=torch.float16, device="npu:1").t()
            made = table().export(x)
            out = [made.tensor.device.device_type, made.tensor.device.device_id, made.shape, made.strides,
                   made.tensor.data == x.data_ptr()]
            back = table().to_torch(made.release())
            copy = torch.empty_like(back)
            copy.copy_(back)  # reads torch_npu's description of the storage
            torch.npu.synchronize()
            answer = [out, str(back.device), list(back.shape), list(back.stride()), back.data_ptr() == x.data_ptr(),
                      int(torch_npu.get_npu_format(back)), type(back) is torch.Tensor]""")
        assert answer == [[12, 1, [4, 3], [1, 4], True], "npu:1", [4, 3], [1, 4], True, 2, True]

    def test_memory_of_another_library_gets_torch_npus_own_storage() -> None:
        answer = on_ascend("""
            x = torch.empty(64, device="npu:1")
            lent = Foreign((2, 3), (3, 1), device=(EXT_DEV, 1), data=x.data_ptr(), byte_offset=8)
            back = table().to_torch(lent.address)
            view = back[1:]
            facts = [str(back.device), back.data_ptr() - x.data_ptr(), list(back.shape),
                     *(int(torch_npu.get_npu_format(t)) for t in (back, torch.empty(2, 3, device="npu:1")))]
            back.clone()
            torch.npu.synchronize()
            del back
            still = lent.deleted
            del view
            answer = [facts, still, lent.deleted, torch.npu.current_device()]""")
        (device, offset, shape, format_, plain), still, deleted, current = answer
        assert (device, offset, shape, still, deleted, current) == ("npu:1", 8, [2, 3], 0, 1, 0)
        assert format_ == plain

    @pytest.mark.parametrize(
        ("change", "kind"),
        [
            ("device=(EXT_DEV, 2)", "BufferError"),
            ("device=(EXT_DEV, -1)", "BufferError"),
            ("dtype=(2, 32, 2)", "BufferError"),
            ("shape=(-2, 3)", "ValueError"),
            ("strides=(-3, 1)", "ValueError"),
            ("data=None", "ValueError"),
        ],
    )
    def test_what_cannot_be_imported_stays_with_the_caller(change: str, kind: str) -> None:
        found, text, deleted = on_ascend(f"""
            what = dict(shape=(2, 3), device=(EXT_DEV, 1)); what.update(dict({change}))
            lent = Foreign(**what)
            answer = [*told(lambda: table().to_torch(lent.address)), lent.deleted]""")
        assert (found, deleted) == (kind, 0)
        assert text.startswith("dlx-torch: ")

    def test_allocation_lands_on_the_device_asked_for() -> None:
        answer = on_ascend("""
            answer = []
            for index in (0, 1):
                before = torch.npu.memory_allocated(index)
                made = table().allocate(prototype((3, 4), device=(EXT_DEV, index)))
                more = torch.npu.memory_allocated(index) - before
                back = table().to_torch(made.release())
                answer.append([str(back.device), more > 0, list(back.shape), torch.npu.current_device()])
                del back
                answer[-1].append(torch.npu.memory_allocated(index) == before)""")
        assert answer == [[f"npu:{index}", True, [3, 4], 0, True] for index in (0, 1)]

    if PROVIDER == "dlx":

        def test_a_private_layout_is_refused() -> None:
            kind, text = on_ascend("""
                x = torch_npu.empty_with_format((32, 32), dtype=torch.float16, device="npu:1", acl_format=29)
                assert int(torch_npu.get_npu_format(x)) == 29
                answer = told(lambda: table().export(x))""")
            assert kind == "BufferError"
            assert "private layout" in text

        @pytest.mark.parametrize("dims", [1, 2, 3, 4, 5, 6])
        def test_plain_layouts_of_every_rank_are_exported(dims: int) -> None:
            assert on_ascend(f"""
                x = torch.empty(*([2] * {dims}), device="npu:0")
                answer = table().dltensor(x).data == x.data_ptr()""")

    else:

        def test_torchs_table_stays_untouched_and_comes_back() -> None:
            answer = on_ascend("""
                import dlx_torch_ext
                dlx_torch_ext.detach()
                address = capsule_address(torch.Tensor.__dlpack_c_exchange_api__)
                dlx_torch_ext.attach()
                before = ctypes.string_at(address, 56)
                ours, theirs = table().raw, Table(address).raw
                same = [n for n in ("managed_tensor_allocator", "managed_tensor_from_py_object_no_sync",
                                    "dltensor_from_py_object_no_sync") if getattr(ours, n) == getattr(theirs, n)]
                other = [n for n in ("managed_tensor_to_py_object_no_sync", "current_work_stream")
                         if getattr(ours, n) != getattr(theirs, n)]
                dlx_torch_ext.detach()
                answer = [len(same), len(other), torch.Tensor.__dlpack_c_exchange_api__ is not None,
                          capsule_address(torch.Tensor.__dlpack_c_exchange_api__) == address,
                          ctypes.string_at(address, 56) == before]""")
            assert answer == [3, 2, True, True, True]

    def test_a_function_called_through_tvm_ffi_sees_the_stream() -> None:
        answer = on_ascend(
            """
            from tests.support.consumer import consumer
            stream = torch.npu.Stream("npu:1")
            x = torch.empty(4, device="npu:1")
            look = lambda: consumer()["stream_for"](x)
            outside = look() == torch.npu.current_stream(1).npu_stream
            with torch.npu.stream(stream):
                inside = look() == stream.npu_stream
            answer = [outside, inside]""",
            TVM_FFI_DISABLE_TORCH_C_DLPACK="1",
        )
        assert answer == [True, True]

    def test_the_doctor_names_torch_npu_and_the_policy() -> None:
        code = "import sys; from dlx_torch_ext._cli import main; sys.exit(main(['doctor']))"
        done = spawn.code(code, env={**CLEAN, "DLX_TORCH_NPU_DRAIN": "0"})
        assert done.status == 0, str(done)
        assert version("torch_npu") in done.stdout
        assert "does not wait" in done.stdout


def _without_cann() -> dict[str, str]:
    """An environment in which torch can be imported and torch_npu cannot: CANN's libraries are missing."""
    kept = [folder for folder in os.environ["LD_LIBRARY_PATH"].split(":") if "ascend" not in folder]
    return {"LD_LIBRARY_PATH": ":".join(kept)}

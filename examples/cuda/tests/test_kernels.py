"""The kernels on torch's tensors. Run it twice: as it is, and with DLX_TORCH_DISABLE=1, where torch has no table."""

import re

import dlx_example_cuda as kernels
import pytest
import torch

DEVICES = [f"cuda:{index}" for index in range(torch.cuda.device_count())]


def cpu(values: list[float]) -> torch.Tensor:
    return torch.tensor(values)


@pytest.mark.parametrize("device", DEVICES)
def test_saxpy(device: str) -> None:
    x, y, out = (cpu([1.0, 2.0, 3.0]).to(device) for _ in range(3))
    assert kernels.saxpy(2.0, x, y, out=out) is out
    assert out.cpu().tolist() == [3.0, 6.0, 9.0]
    made = kernels.saxpy(2.0, x, y)
    assert made.device == x.device
    assert made.cpu().tolist() == [3.0, 6.0, 9.0]


@pytest.mark.parametrize("device", DEVICES)
def test_softmax(device: str) -> None:
    x = torch.randn(3, 70)
    assert torch.allclose(kernels.softmax(x.to(device)).cpu(), torch.softmax(x, 1), atol=1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_on_a_side_stream(device: str, capfd: pytest.CaptureFixture[str]) -> None:
    x, stream = cpu([1.0, 2.0]).to(device), torch.cuda.Stream(device)
    with torch.cuda.stream(stream):
        made = kernels.saxpy(1.0, x, x)
    stream.synchronize()
    assert made.cpu().tolist() == [2.0, 4.0]
    # Only where it is compiled for a simulated device.
    noted = re.findall(r"saxpy on device (\d+), stream (\w+)\n", capfd.readouterr().err)
    assert noted in ([], [(device.partition(":")[2], hex(stream.cuda_stream))])


def test_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"^saxpy: argument 2 'x': is on cpu; cuda is needed$"):
        kernels.saxpy(1.0, cpu([1.0]), cpu([1.0]))
    with pytest.raises(TypeError, match=r"^saxpy: argument 3 'y': a tensor is needed"):
        kernels.saxpy(1.0, cpu([1.0]).to(DEVICES[0]), [1.0])

"""The kernels on torch's tensors. Run it twice: as it is, and with DLX_TORCH_DISABLE=1, where torch has no table."""

import dlx_example_cython as kernels
import pytest
import torch


def test_saxpy() -> None:
    x, y, out = torch.arange(5.0), torch.ones(5), torch.empty(5)
    assert torch.equal(kernels.saxpy(2.0, x, y), 2 * x + y)
    assert kernels.saxpy(2.0, x, y, out=out) is out
    assert torch.equal(out, 2 * x + y)


def test_softmax() -> None:
    x = torch.randn(3, 7)
    assert torch.allclose(kernels.softmax(x), torch.softmax(x, 1))
    assert torch.allclose(kernels.softmax(x, out=torch.empty(3, 7)), torch.softmax(x, 1))


@pytest.mark.parametrize(
    ("x", "kind", "text"),
    [
        (torch.ones(3).double(), TypeError, "saxpy: argument 'x': float32 is needed"),
        (torch.ones(3, 3), ValueError, "saxpy: argument 'x': has 2 dimensions; 1 are needed"),
        (torch.ones(6)[::2], ValueError, "saxpy: argument 'x': is not contiguous"),
        (
            [1.0],
            TypeError,
            "saxpy: argument 'x': a tensor is needed; 'list' has neither a table of DLPack 1 nor __dlpack__",
        ),
    ],
)
def test_what_does_not_fit(x: object, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as raised:
        kernels.saxpy(1.0, x, torch.ones(3))
    assert str(raised.value) == text

"""Numbers, texts, lists, keywords and what may be left out; each error says the argument's name, in one line."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.support.kit import kit


def test_numbers_arrive() -> None:
    assert kit().numbers(-5, 2**62, 0.5, True) == (-5, 2**62, 0.5, True, "not given")
    assert kit().numbers(1, l=2, b=False, f=3, s="text") == (1, 2, 3.0, False, "text")
    assert kit().numbers(-1, -1, -1.0, False, None) == (-1, -1, -1.0, False, "not given")


NUMBERS: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    (("x", 1, 1.0, True), {}, TypeError, "numbers: argument 1 'i': 'str' object cannot be interpreted as an integer"),
    ((1, 0.5, 1.0, True), {}, TypeError, "numbers: argument 2 'l': 'float' object cannot be interpreted as an integer"),
    ((2**31, 1, 1.0, True), {}, OverflowError, "numbers: argument 1 'i': is 2147483648, which has more than 32 bits"),
    ((1, 2**63, 1.0, True), {}, OverflowError, "numbers: argument 2 'l': "),
    ((1, 1, "x", True), {}, TypeError, "numbers: argument 3 'f': must be real number, not str"),
    ((1, 1, 1.0, 1), {}, TypeError, "numbers: argument 4 'b': is 1; True or False is needed"),
    ((1, 1, 1.0, True, 5), {}, TypeError, "numbers: argument 5 's': is 5; a str is needed"),
    ((1, 1, 1.0), {}, TypeError, "numbers: argument 4 'b': is missing"),
    ((1, 1, 1.0, True, "s", 2), {}, TypeError, "numbers: takes at most 5 arguments; 6 were given"),
    ((1, 1, 1.0), {"c": 1}, TypeError, "numbers: has no argument 'c'"),
    ((1, 1, 1.0), {"l": 1}, TypeError, "numbers: argument 2 'l': was given twice"),
]


@pytest.mark.parametrize(("given", "keywords", "kind", "text"), NUMBERS)
def test_a_wrong_number_is_named(
    given: tuple[Any, ...], keywords: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as raised:
        kit().numbers(*given, **keywords)
    assert str(raised.value).startswith(text)
    assert len(str(raised.value).splitlines()) == 1


def test_lists_and_tuples_of_tensors() -> None:
    ones = [torch.ones(2), torch.ones(3)]
    assert kit().total(ones) == kit().total(tuple(ones)) == 5
    assert kit().total([]) == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.ones(2), "total: argument 1 'xs': a list or tuple of tensors is needed"),
        ([torch.ones(2), 3], "total: argument 1 'xs'[1]: a tensor is needed; 'int' has neither"),
        ([torch.ones(2), None], "total: argument 1 'xs'[1]: a tensor is needed; 'NoneType' has neither"),
        ([torch.ones(2).long()], "total: argument 1 'xs'[0]: its dtype is int64; float32 is needed"),
    ],
)
def test_a_wrong_item_is_named(value: object, text: str) -> None:
    with pytest.raises(TypeError) as raised:
        kit().total(value)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize("value", [None, "x", 1, [1.0], object(), torch.Tensor])
def test_what_is_no_tensor_is_named(value: object) -> None:
    with pytest.raises(TypeError) as raised:
        kit().saxpy(1.0, torch.ones(2), value)
    name = "_TensorMeta" if value is torch.Tensor else type(value).__name__
    if value is not torch.Tensor:  # the class has the methods of its tensors, unbound
        expected = f"a tensor is needed; '{name}' has neither a table of DLPack 1 nor __dlpack__"
        assert str(raised.value) == f"saxpy: argument 3 'y': {expected}"
    assert str(raised.value).startswith("saxpy: argument 3 'y': ")


def test_without_a_signature_the_position_is_named() -> None:
    with pytest.raises(TypeError, match=r"^argument 2: a tensor is needed; 'int' has neither"):
        kit().nop(torch.ones(2), 3, torch.ones(2))
    with pytest.raises(TypeError, match=r"^takes at most 3 arguments; 4 were given$"):
        kit().nop(1, 2, 3, 4)
    with pytest.raises(TypeError, match=r"^argument 3: is missing$"):
        kit().nop(torch.ones(2), torch.ones(2))


def test_a_pending_exception_becomes_the_context() -> None:
    with pytest.raises(TypeError, match="its dtype is float32; int8 is needed") as raised:
        kit().while_pending(torch.ones(2))
    assert repr(raised.value.__context__) == "KeyError('pending')"
    with pytest.raises(TypeError, match="a tensor is needed") as raised:
        kit().while_pending(3)
    causes = (raised.value.__cause__, raised.value.__context__)
    assert any(repr(cause) == "KeyError('pending')" for cause in (*causes, getattr(causes[0], "__context__", None)))


def test_a_pending_exception_survives_a_call_that_succeeds() -> None:
    with pytest.raises(KeyError, match="pending"):
        kit().while_pending(torch.tensor(1, dtype=torch.int8))

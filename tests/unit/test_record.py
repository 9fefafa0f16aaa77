"""Frozen records behave as frozen dataclasses do."""

from __future__ import annotations

import pytest
from dlx_torch_ext._record import Record


class Point(Record):
    x: int
    y: int = 2


class Other(Record):
    x: int
    y: int = 2


def test_fields_by_position_by_name_and_by_default() -> None:
    assert Point(1) == Point(x=1) == Point(1, 2) == Point(1, y=2)
    assert (Point(1).x, Point(1).y) == (1, 2)
    assert repr(Point(1)) == "Point(x=1, y=2)"
    assert Point(1).as_dict() == {"x": 1, "y": 2}


def test_equal_only_to_its_own_type() -> None:
    assert Point(1) != Other(1)
    assert Point(1) != Point(2)
    assert {Point(1): "a"}[Point(1, 2)] == "a"


def test_frozen() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="x cannot be set"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="x cannot be deleted"):
        del point.x
    assert point.replace(x=3) == Point(3)
    assert point == Point(1)


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"x": 1}), ((1,), {"z": 1})])
def test_wrong_arguments_are_named(values: tuple[int, ...], named: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Point takes x, y"):
        Point(*values, **named)

"""Frozen records that are written like dataclasses.

To create a dataclass takes half a millisecond, because its methods are compiled then. This package runs at every
`import torch` and may make it 3 ms slower; a dozen dataclasses alone would take 6 ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Any:
        return lambda cls: cls


Self = TypeVar("Self", bound="Record")


@dataclass_transform(frozen_default=True)
class Record:
    """The annotations are the fields; values in the class body are their defaults. Two records are equal if their types
    and their fields are."""

    _fields: tuple[str, ...] = ()
    _defaults: dict[str, Any] = {}  # noqa: RUF012

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._defaults = {name: getattr(cls, name) for name in cls._fields if hasattr(cls, name)}

    def __init__(self, *values: Any, **named: Any) -> None:
        # Keeps the order of the fields. Has to be fast: each of a wheel's dozens of libraries takes several records.
        fields, state = self._fields, self.__dict__
        state.update(zip(fields, values))
        rest = fields[len(values) :]
        for name in rest:
            if name in named:
                state[name] = named[name]
            elif name in self._defaults:
                state[name] = self._defaults[name]
        if len(state) != len(fields) or len(values) > len(fields) or not named.keys() <= set(rest):
            raise TypeError(f"{type(self).__name__} takes {', '.join(fields)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(tuple(self.as_dict().values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({fields})"

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, in their order; a new dict."""
        return dict(self.__dict__)

    def replace(self: Self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

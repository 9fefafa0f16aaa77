"""Frozen records, spelled like dataclasses.

A dataclass takes half a millisecond to create, because its methods are compiled when the class is. This package is
imported at every `import torch`, which may take 3 ms longer for it; a dozen dataclasses would use that up twice.
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
    """Annotations are the fields, values in the class body their defaults. Equal if the types and the fields are."""

    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = tuple(cls.__annotations__)

    def __init__(self, *values: Any, **named: Any) -> None:
        given = {**dict(zip(self._fields, values)), **named}
        unknown = set(given) - set(self._fields)
        missing = [name for name in self._fields if name not in given and not hasattr(type(self), name)]
        if unknown or missing or len(values) + len(named) != len(given):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
        self.__dict__.update((name, given.get(name, getattr(type(self), name, None))) for name in self._fields)

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

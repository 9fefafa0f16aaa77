"""What of ours is on torch.Tensor. No other module changes that class.

The record of it is an attribute of the class. So everybody finds it who looks at the class: this module after a reload,
a second copy of the package, a forked child. It holds plain values only, because a second copy has other classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._dlpack import CAPSULE_ATTRIBUTE, LEGACY_ATTRIBUTE, attribute_of
from ._record import Record
from ._resolve import Accepted, Candidate

if TYPE_CHECKING:
    from ._load import Library

RECORD_ATTRIBUTE = "__dlx_torch_ext__"
_FORMAT = "dlx-torch-ext 1"  # of the record


class Installed(Record):
    """What we have put on `tensor_class`. `table`: the address of our table. `attributes`: the attributes that we set.
    `replaced`: their values before, from the class's own __dict__; it lacks the names that the class did not have
    there."""

    tensor_class: Any
    candidate: Candidate
    table: int
    attributes: Mapping[str, object]
    replaced: Mapping[str, object]

    def is_current(self, name: str = CAPSULE_ATTRIBUTE) -> bool:
        """Whether the attribute `name` of the class is still the one that we set."""
        return name in self.attributes and vars(self.tensor_class).get(name) is self.attributes[name]

    def without_ours(self, name: str) -> object:
        """The value that the attribute `name` of the class would have without us."""
        if not self.is_current(name):
            return attribute_of(self.tensor_class, name)
        if name in self.replaced:
            return self.replaced[name]
        return attribute_of(super(self.tensor_class, self.tensor_class), name)


def read(torch: Any) -> Installed | None:
    """What we have put on the Tensor of the module `torch`, also if somebody has replaced the attributes since; None if
    there is nothing. Never raises."""
    tensor_class = getattr(torch, "Tensor", None)
    values = getattr(tensor_class, "__dict__", {}).get(RECORD_ATTRIBUTE)
    if not isinstance(values, tuple) or values[:1] != (_FORMAT,):  # nothing, or of another version of this package
        return None
    _, provider, name, reason, backend, library, table, attributes, replaced = values
    candidate = Candidate(name, provider, Accepted(reason), backend, library)
    return Installed(tensor_class, candidate, table, attributes, replaced)


def put(tensor_class: Any, candidate: Candidate, library: Library) -> None:
    """Sets both attributes, the capsule and the integer that older consumers read, to the table of `library`."""
    from ._capsule import make_capsule  # works on CPython only

    # The capsule comes last and goes first: where it is, the rest is, also in a child that was forked in between.
    attributes = {LEGACY_ATTRIBUTE: library.table, CAPSULE_ATTRIBUTE: make_capsule(library.table)}
    replaced = {name: vars(tensor_class)[name] for name in attributes if name in vars(tensor_class)}
    record = (
        _FORMAT,
        candidate.provider,
        candidate.name,
        candidate.verdict.reason,
        candidate.backend,
        candidate.library,
        library.table,
        attributes,
        replaced,
    )
    setattr(tensor_class, RECORD_ATTRIBUTE, record)
    for name, value in attributes.items():
        setattr(tensor_class, name, value)


def remove(torch: Any) -> None:
    """Gives the Tensor of `torch` back what it had before. An attribute that somebody else has replaced since then
    stays as it is."""
    installed = read(torch)
    if installed is None:
        return
    for name in reversed(tuple(installed.attributes)):
        if not installed.is_current(name):
            continue
        if name in installed.replaced:
            setattr(installed.tensor_class, name, installed.replaced[name])
        else:
            delattr(installed.tensor_class, name)
    delattr(installed.tensor_class, RECORD_ATTRIBUTE)

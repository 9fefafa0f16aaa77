"""Finds further copies of an installed package: the order of sys.path then decides which one is imported."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from typing import Any

_DAMAGED = "an unreadable one"  # where a version should be


def location(module: Any) -> str:
    """The folder of an imported package, or the file of a module; "" if it has neither."""
    file = getattr(module, "__file__", None)
    place = os.path.abspath(file) if file else ""
    return os.path.dirname(place) if hasattr(module, "__path__") else place


def warnings(name: str, distribution: str, imported: str) -> Iterator[str]:
    """Says in one line if sys.path has several copies of the package `name`, and in one line for each folder in which
    `distribution` is recorded more than once. `imported`: the location of the copy that was imported, or "". Imports
    nothing."""
    found = on_path(name)
    imported = imported or next(iter(found), "")
    others = [place for place in found if os.path.realpath(place) != os.path.realpath(imported)]
    if others:
        named = ", ".join(f"{place}{_versions(distribution, place)}" for place in others)
        yield f"sys.path has {len(others) + 1} copies of {name}: {imported} is used, not {named}: remove the wrong ones"
    for folder in dict.fromkeys(os.path.dirname(place) for place in (imported, *others) if place):
        versions = _recorded(distribution, folder)
        if len(versions) > 1:
            yield (
                f"{folder} has {len(versions)} records of {distribution} ({', '.join(versions)}): uninstall it until"
                " none is left, then install it again"
            )


def on_path(name: str) -> list[str]:
    """Where each entry of sys.path has `name`, every place once."""
    found: dict[str, str] = {}
    for entry in sys.path:
        try:
            spec = PathFinder.find_spec(name, [entry])
        except Exception:  # the path hook of another package
            continue
        if spec is None or not spec.has_location or not spec.origin:  # a folder without __init__.py has no origin
            continue
        place = spec.origin if spec.submodule_search_locations is None else os.path.dirname(spec.origin)
        found.setdefault(os.path.realpath(place), os.path.abspath(place))
    return list(found.values())


def _versions(distribution: str, place: str) -> str:
    versions = _recorded(distribution, os.path.dirname(place))
    return f" ({', '.join(versions)})" if versions else ""


def _recorded(distribution: str, folder: str) -> list[str]:
    """The versions of `distribution` whose metadata is in `folder`."""
    versions = set()
    for record in importlib.metadata.distributions(name=distribution, path=[folder]):
        try:
            versions.add(record.version or _DAMAGED)
        except Exception:
            versions.add(_DAMAGED)
    return sorted(versions)

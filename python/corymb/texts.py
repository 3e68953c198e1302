# SPDX-License-Identifier: Apache-2.0
"""What the objects of the compiled module print as: their class and what they say of themselves."""

from __future__ import annotations

from typing import Any

from corymb import _core

SHORT = 40
"""Letters of a text up to which it is shown."""


def is_short(value: object) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= SHORT)


def properties_of(thing: object) -> dict[str, Any]:
    """The numbers and short texts that can be had now: a handle that was closed gives none."""
    found = {}
    for name, member in vars(type(thing)).items():
        if name.startswith("_") or not isinstance(member, property):
            continue
        try:
            value = getattr(thing, name)
        except Exception:
            continue
        if is_short(value):
            found[name] = value
    return found


def text_of(thing: object) -> str:
    """`<corymb.Request active=True persistent=False>`"""
    words = [f"corymb.{type(thing).__name__}"]
    words += [f"{name}={value!r}" for name, value in properties_of(thing).items()]
    return f"<{' '.join(words)}>"


def give_texts() -> None:
    """To every class that has no text of its own."""
    kinds: list[Any] = [kind for kind in vars(_core).values() if isinstance(kind, type)]
    for kind in kinds:
        if kind.__repr__ is object.__repr__:
            kind.__repr__ = text_of

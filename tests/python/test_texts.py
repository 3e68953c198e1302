# SPDX-License-Identifier: Apache-2.0
"""Errors speak Python, whichever text of the library they carry. sweep.py looks at the errors that
calls with wrong arguments give; here are those that are hard to reach."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from conftest import ROOT

import corymb
from corymb import Team, _core

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts_with_scopes() -> Iterator[str]:
    """String literals of the library in which a name of C++ has its scope. The C interface has
    names of its own, which Python does not show."""
    for file in sorted((ROOT / "src").rglob("*.[ch]pp")):
        if file.is_relative_to(ROOT / "src/c"):
            continue
        for line in file.read_text().splitlines():
            if not line.lstrip().startswith(("//", "#")):
                texts = (text for text in LITERAL.findall(line) if "::" in text)
                # What begins so is the end of a name that is looked for, and is shown to nobody.
                yield from (text for text in texts if text[0] not in ">)")


def as_python_says_it(text: str) -> str:
    """Another rank's reason passes through the translation of errors."""
    threads = _core.ThreadTeam(2)
    one, other = Team(threads.join(0)), Team(threads.join(1))
    one.abandon(text)
    with pytest.raises(corymb.Error) as caught:
        other.Barrier()
    return str(caught.value)


def test_no_text_of_the_library_is_in_cpp() -> None:
    found = {text: as_python_says_it(text) for text in texts_with_scopes()}
    assert len(found) > 20
    assert {text for text, said in found.items() if re.search(r"::|\bstd\b|nullptr", said)} == set()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("give more patience (AttachOptions::patience)", "give more patience (patience)"),
        ("MulticastTopology::tree needs MulticastOptions::plan", "tree needs plan"),
        ("one of MulticastGroup::make_descriptor", "one of MulticastGroup.make_descriptor"),
        ("say corymb::commutative(op)", "say commutative(op)"),
        ("write corymb::detail::Contents", "write Contents"),
    ],
)
def test_names_of_cpp_become_names_of_python(text: str, said: str) -> None:
    assert f"rank 0 gave up: {said};" in as_python_says_it(text)

# SPDX-License-Identifier: Apache-2.0
"""Types of methods and functions reach through calls of other ranks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def test_a_type_checker_sees_the_methods_types(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    file = HERE / "typed_remote.py"
    words = ["--strict", "--cache-dir", str(tmp_path), "--follow-imports", "silent", str(file)]
    told, _, _ = api.run(words)
    revealed = [
        re.sub(r"\b(typed_remote|builtins|corymb\.remote\.proxy)\.", "", kind)
        for kind in re.findall(r'Revealed type is "(.*)"', told)
    ]
    assert revealed == ["Proxy[Counter]", "int", "str", "float", "Any"], told
    lines = file.read_text().splitlines()
    wanted = {number for number, line in enumerate(lines, 1) if "# error" in line}
    found = {int(number) for number in re.findall(r"\.py:(\d+): error", told)}
    assert found == wanted, told

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes C_FUNCTION(name) for every function of the C interface: c_functions.py INCLUDE OUTPUT."""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*")
FREE = re.compile(r"^CORYMB_FREE\((\w+),", re.MULTILINE)
NUMBER = re.compile(r"^CORYMB_NUMBER\((\w+),", re.MULTILINE)
MEMORY = re.compile(r"^CORYMB_MEMORY\((\w+),", re.MULTILINE)
DESCRIPTOR = re.compile(r"^CORYMB_MAKE_DESCRIPTOR\((\w+),", re.MULTILINE)
FORMS = re.compile(r"^CORYMB_COLLECTIVE(?:_OF_PARTS)?\((\w+),", re.MULTILINE)
FUNCTION = re.compile(r"(?:CORYMB_EXPORT|static inline)\s[^;{()]*?\b(corymb_\w+)\s*\(")


def main(folder: str, output: str) -> None:
    names = set()
    for header in Path(folder).rglob("*.h"):
        text = COMMENT.sub("", header.read_text())
        names |= set(FUNCTION.findall(text))
        names |= {f"corymb_{name}_free" for name in FREE.findall(text)}
        names |= {f"corymb_{name}" for name in NUMBER.findall(text)}
        names |= {f"corymb_{name}_memory" for name in MEMORY.findall(text)}
        names |= {f"corymb_{name}_make_descriptor" for name in DESCRIPTOR.findall(text)}
        for name in FORMS.findall(text):
            names |= {f"corymb_{name}", f"corymb_i{name}", f"corymb_{name}_init"}
    text = "".join(f"C_FUNCTION({name})\n" for name in sorted(names))
    Path(output).write_text("// Written by c_functions.py.\n" + text)


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes C_FUNCTION(name) for every function of the C interface: c_functions.py INCLUDE OUTPUT."""

import re
import sys
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*")
FUNCTION = re.compile(r"(?:CORYMB_EXPORT|static inline)\s[^;{()]*?\b(corymb_\w+)\s*\(")


def main(folder: str, output: str) -> None:
    names = set()
    for header in Path(folder).rglob("*.h"):
        names |= set(FUNCTION.findall(COMMENT.sub("", header.read_text())))
    text = "".join(f"C_FUNCTION({name})\n" for name in sorted(names))
    Path(output).write_text("// Written by c_functions.py.\n" + text)


if __name__ == "__main__":
    main(*sys.argv[1:])

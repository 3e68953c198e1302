#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library exports the public API and nothing else, and has nothing destroyed at exit,
where a program's own static objects may still call it: exports.py LIBRARY INCLUDE_FOLDER."""

import re
import subprocess
import sys
from pathlib import Path

NODE = "CORYMB_0"  # the version node of src/corymb.map
C_NAME = re.compile(r"^corymb_\w+$")  # of the C interface
C_FUNCTIONS_MAX = 120  # of the C interface; one for what handles of several kinds do
PREFIX = re.compile(r"^(typeinfo for|typeinfo name for|vtable for) ")


def exported(library: str) -> list[str]:
    """Demangled names that the dynamic linker sees."""
    command = ["nm", "--dynamic", "--defined-only", "--demangle", library]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    names = [line.split(maxsplit=2)[2] for line in listed.splitlines()]
    return [re.sub(rf"@+{NODE}$", "", name) for name in names if name != f"{NODE}{'@@' + NODE}"]


def is_destroyed_at_exit(library: str) -> bool:
    """Whether some static object has a destructor that runs with the program's."""
    command = ["nm", "--dynamic", "--undefined-only", library]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return re.search(r" __cxa_atexit\b", listed) is not None


def is_public(symbol: str, words: set[str]) -> bool:
    """Whether each part of the qualified name stands in a public header."""
    if C_NAME.match(symbol):
        return symbol in words
    name = PREFIX.sub("", symbol)
    name = re.sub(r"\[abi:\w+\]", "", name)
    name = re.split(r"\(|<|::operator\b", name, maxsplit=1)[0].strip()
    parts = [part.lstrip("~") for part in name.split(" ")[-1].split("::")]
    if parts[0] != "corymb" or len(parts) < 2 or not words.issuperset(parts):
        return False
    # A lower-case part with something below it is a namespace; only one of those is public.
    return len(parts) == 2 or parts[1][0].isupper() or parts[1] in ("detail", "barrier")


def main(library: str, folder: str) -> int:
    headers = "\n".join(file.read_text() for file in Path(folder).rglob("*.h*"))
    code = re.sub(r"//[^\n]*", "", headers)
    words = set(re.findall(r"\w+", code))
    symbols = [name for name in exported(library) if name != NODE]
    of_c = [name for name in symbols if C_NAME.match(name)]
    if len(of_c) > C_FUNCTIONS_MAX:
        print(
            f"{len(of_c)} functions of C, at most {C_FUNCTIONS_MAX}: what handles of several "
            "kinds do is one function that takes the kind (corymb/c/handles.h)"
        )
        return 1
    strangers = [name for name in symbols if not is_public(name, words)]
    for name in strangers:
        print(f"exported, but in no public header: {name}")
    for name in ("corymb::version()", "corymb_version"):
        if name not in symbols:
            print(f"{name} is not exported")
            return 1
    if is_destroyed_at_exit(library):
        print("a static object is destroyed at exit (__cxa_atexit): make it with new")
        return 1
    print(f"{len(symbols)} exported symbols, {len(of_c)} of C, {len(strangers)} strangers")
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

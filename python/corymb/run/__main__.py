# SPDX-License-Identifier: Apache-2.0
"""`python -m corymb.run -n 2 script.py arguments`: `corymb run` with this interpreter."""

from __future__ import annotations

import sys

from corymb.command.run import become
from corymb.errors import Error

WITH_VALUE = ("-n", "--bind", "--threads-per-process", "--attach-deadline", "--deadline")
USAGE = """usage: python -m corymb.run -n N [options] script.py [arguments]
       python -m corymb.run -n N [options] -m module [arguments]

Starts N Python processes that form one team (corymb.attach). The options are those of
`corymb run --help`.
"""


def launcher_words(words: list[str]) -> list[str]:
    """The launcher's words: its options, this interpreter, then the script with its own."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("--", "-m", "-c"):
        at += 2 if words[at] in WITH_VALUE else 1
    options, rest = words[:at], words[at:]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    return [*options, "--", *([sys.executable, *rest] if rest else [])]


def main(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if words else 2
    try:
        become(launcher_words(words))
    except Error as error:
        print(f"corymb.run: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

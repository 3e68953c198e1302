# SPDX-License-Identifier: Apache-2.0
"""What to say where a library that the command needs is missing. The package has none of them as a
dependency: a program that only uses teams needs no libraries for tables and pictures."""

from __future__ import annotations

EXTRA_OF = {"numpy": "command", "rich": "command", "typer": "command"}


def remedy(error: ImportError) -> str | None:
    """One sentence for an import that an extra would have made good; else nothing."""
    library = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(library)
    if extra is None:
        return None
    return (
        f"this needs {library}, which is not installed; "
        f"in corymb's sources: pip install '.[{extra}]'"
    )

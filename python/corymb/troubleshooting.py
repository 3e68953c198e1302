# SPDX-License-Identifier: Apache-2.0
"""Where docs/troubleshooting.md helps: its headings, by what `corymb doctor` says and by errors."""

from __future__ import annotations

PAGE = "docs/troubleshooting.md"

OF_PERMISSIONS = {
    "pinning": "pinning",
    "CPU quota": "quota",
    "invariant cycle counter": "clock",
    "futex": "refused-calls",
    "membarrier": "refused-calls",
    "memfd": "refused-calls",
    "/dev/shm": "refused-calls",
    "NUMA policy": "refused-calls",
    "transparent huge pages": "huge-pages",
    "explicit huge pages": "huge-pages",
    "process_vm_readv": "large-messages",
}
"""Names of `probe_permissions` -> headings. Nothing can be done about the others."""

OF_CODES = {
    "timeout": "a-rank-is-late",
    "team_broken": "a-rank-has-ended",
    "mismatch": "calls-that-differ",
    "deadlock": "deadlock",
    "io": "files",
    "unsupported": "refused-calls",
    "stale_model": "models",
    "invalid_model": "models",
    "internal": "an-error-of-corymb",
}
"""Codes of `corymb.Error` -> headings. Errors of the other codes say all there is to say."""

LIMITS, MPI, PYTHON = "limits", "mpi-programs", "python"


def place(heading: str) -> str:
    """What a text names.

    >>> place("quota")
    'docs/troubleshooting.md#quota'
    """
    return f"{PAGE}#{heading}"

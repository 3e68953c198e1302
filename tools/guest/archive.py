# SPDX-License-Identifier: Apache-2.0
"""Archives in the form that the kernel unpacks into its first file system ("newc" of cpio)."""

from __future__ import annotations

import stat


def newc(files: dict[str, tuple[int, bytes]]) -> bytes:
    """From name to mode (with type) and content. Folders come before what is in them."""
    entries = [*files.items(), ("TRAILER!!!", (0, b""))]
    parts = []
    for inode, (name, (mode, content)) in enumerate(entries, 1):
        encoded = name.encode() + b"\0"
        fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        header = b"070701" + b"".join(b"%08X" % value for value in fields)
        parts += [_padded(header + encoded), _padded(content)]
    return b"".join(parts)


def folder() -> tuple[int, bytes]:
    return stat.S_IFDIR | 0o755, b""


def program(content: bytes) -> tuple[int, bytes]:
    return stat.S_IFREG | 0o755, content


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)

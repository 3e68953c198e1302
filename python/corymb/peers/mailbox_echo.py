# SPDX-License-Identifier: Apache-2.0
"""The other end of a mailbox, for round trips of `corymb bench messages`."""

from __future__ import annotations

import sys

import corymb
from corymb.peers.iceoryx2_end import echo


def main() -> None:
    box = corymb.MailboxGroup.open(int(sys.argv[1])).join(1)

    def take_and_send() -> bool:
        found = box.receive()
        for source, message in found:
            box.send(source, message)
        return bool(found)

    echo(take_and_send)


if __name__ == "__main__":
    main()

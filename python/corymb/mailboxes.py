# SPDX-License-Identifier: Apache-2.0
"""Mailboxes and broadcast rings: small messages that nobody has asked for.

Each thread joins a group with its rank, and sends and receives what has the buffer protocol:

>>> import corymb
>>> group = corymb.MailboxGroup(2)
>>> one, other = group.join(0), group.join(1)
>>> one.send(1, b"price"), one.send(1, b"order")
(True, True)
>>> other.wait(seconds=1)
True
>>> other.receive()
[(0, b'price'), (0, b'order')]

`send` returns False when there is no room until the receiver probes; with `seconds` it waits for
that first. `wait` releases the interpreter lock. A broadcast ring has one publisher and readers
that come and go:

>>> ring = corymb.BroadcastRing(slots=4)
>>> publisher, reader = ring.publisher(), ring.reader("overrun")
>>> for price in (101, 102, 103, 104, 105, 106):
...     publisher.publish(price.to_bytes(2, "little"))
>>> [(number, int.from_bytes(data, "little"), missed) for number, data, missed in reader.receive()]
[(5, 105, 4), (6, 106, 0)]
>>> publisher.close()
>>> reader.wait(seconds=1), reader.at_end
(False, True)

What a protocol costs on a machine that is not here:

>>> scc = corymb.Machine.gallery("scc-48c")
>>> corymb.choose_mailbox(scc, 48).protocol
'srbp'
>>> corymb.simulate_mailbox(scc, "nvp").round_trip < 2000
True

Among processes: `between_processes=True`, and `open` in a child of what `make_descriptor` gives.
docs/reference/messages.md has the promises.
"""

from corymb._core import (
    BroadcastPublisher,
    BroadcastReader,
    BroadcastReaderInfo,
    BroadcastRing,
    Mailbox,
    MailboxChoice,
    MailboxGroup,
    MailboxTimes,
    choose_mailbox,
    simulate_mailbox,
)

__all__ = [
    "BroadcastPublisher",
    "BroadcastReader",
    "BroadcastReaderInfo",
    "BroadcastRing",
    "Mailbox",
    "MailboxChoice",
    "MailboxGroup",
    "MailboxTimes",
    "choose_mailbox",
    "simulate_mailbox",
]

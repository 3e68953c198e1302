# SPDX-License-Identifier: Apache-2.0
"""Acknowledged multicast: run something on every member of a group, and know when all have done it.

Each thread joins with its rank. A member is told of every call, and must `poll`, `sleep` or be
`quiescent`. An initiator that is no member may call, too:

>>> import corymb
>>> group = corymb.MulticastGroup(3)
>>> me, member = group.initiator(0), group.join(1)
>>> caches = {"a": 1}
>>> token = me.call(caches.clear)
>>> token.members, token.test()
(1, False)
>>> [(late.rank, late.state) for late in token.late()]
[(1, 'told')]
>>> member.poll()
1
>>> token.wait(seconds=1)
>>> caches
{}

A deadline names who is late, and the call goes on:

>>> token = me.call(caches.clear)
>>> try:
...     token.wait(seconds=0.001)
... except corymb.TimeoutError as error:
...     print("late:", error.ranks)
late: [1]
>>> with member.quiescent():  # What it was told it runs first; then calls do not wait for it.
...     token.wait(seconds=1)
...     me.call(caches.clear).members
0

Among processes: `between_processes=True`, in a child `MulticastGroup.open` of what
`make_descriptor` gives, and messages to handlers by number in place of functions.
docs/reference/multicast.md has the promises.
"""

from corymb._core import (
    Multicast,
    MulticastChoice,
    MulticastGroup,
    MulticastLate,
    MulticastQuiescence,
    MulticastTimes,
    MulticastToken,
    MulticastUnderWay,
    choose_multicast,
    simulate_multicast,
)

__all__ = [
    "Multicast",
    "MulticastChoice",
    "MulticastGroup",
    "MulticastLate",
    "MulticastQuiescence",
    "MulticastTimes",
    "MulticastToken",
    "MulticastUnderWay",
    "choose_multicast",
    "simulate_multicast",
]

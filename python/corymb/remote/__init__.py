# SPDX-License-Identifier: Apache-2.0
"""Objects on other ranks, and calls of them, among threads and processes.

>>> import threading
>>> import corymb
>>> class Counter:
...     def __init__(self, start):
...         self.count = start
...     def add(self, by):
...         self.count += by
...         return self.count
>>> group = corymb.RemoteGroup(2)
>>> def serve():
...     with group.join(1):
...         pass  # Serves until the blocks of all ranks end.
>>> thread = threading.Thread(target=serve)
>>> thread.start()
>>> with group.join(0) as own:
...     counter = own.create(1, Counter, 40).wait()
...     print(counter.add(2).wait(), own.at(1, max, 3, 5).wait())
42 5
>>> thread.join()

In an event loop: `async with group.join(0) as own`, and `await counter.add(2)`.
docs/reference/python.md has the rest.
"""

from corymb.remote.array import SharedArray
from corymb.remote.call import RemoteCall
from corymb.remote.group import ProxyGroup
from corymb.remote.proxy import Proxy, RemoteMethod
from corymb.remote.rank import RemoteRank, here
from corymb.remote.ranks import RemoteGroup

__all__ = [
    "Proxy",
    "ProxyGroup",
    "RemoteCall",
    "RemoteGroup",
    "RemoteMethod",
    "RemoteRank",
    "SharedArray",
    "here",
]

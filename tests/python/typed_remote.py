# SPDX-License-Identifier: Apache-2.0
"""What type checkers are to say of corymb.remote; test_remote_types.py asks mypy."""

from __future__ import annotations

from typing import reveal_type

import corymb
from corymb.remote import Proxy


class Counter:
    def __init__(self, start: int) -> None:
        self.count = start

    def add(self, by: int) -> int:
        return self.count + by

    async def slow(self) -> str:
        return "slow"


def double(number: int) -> float:
    return 2.0 * number


async def main(own: corymb.RemoteRank) -> None:
    counter = await own.create(1, Counter, 3)
    reveal_type(counter)
    reveal_type(await own.call(counter, Counter.add, 3))
    reveal_type(own.call(counter, Counter.slow).wait())
    reveal_type(await own.at(1, double, 3))
    await own.call(counter, Counter.add, "text")  # error
    await own.create(1, Counter)  # error
    await own.at(1, double)  # error


def kept(proxy: Proxy[Counter]) -> None:
    reveal_type(proxy.add(1).wait())

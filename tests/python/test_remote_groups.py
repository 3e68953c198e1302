# SPDX-License-Identifier: Apache-2.0
"""Groups of objects of several ranks, against serial results."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from limits import LIMIT_S
from remote_things import Counter, serve_as
from test_remote import beside

import corymb
from corymb.remote import ProxyGroup, RemoteRank


def with_group(
    ranks: list[int], body: Callable[[RemoteRank, ProxyGroup[Counter]], Coroutine[Any, Any, None]]
) -> None:
    """As rank 0 of 4, the others of which serve."""

    async def main(group: corymb.RemoteGroup) -> None:
        async with group.join(0) as own:
            members = await own.create_group(ranks, Counter, 0)
            for number, member in enumerate(members):
                await member.add(number)
            await body(own, members)

    import threading

    group = corymb.RemoteGroup(4)
    threads = [threading.Thread(target=serve_as, args=(rank, group)) for rank in (1, 2, 3)]
    for thread in threads:
        thread.start()
    try:
        asyncio.run(main(group))
    finally:
        for thread in threads:
            thread.join(LIMIT_S)


@pytest.mark.parametrize("ranks", [[0], [3], [0, 1, 2, 3], [2, 0, 2, 1, 3, 3, 1]])
def test_calls_of_all_members_are_as_of_one_after_the_other(ranks: list[int]) -> None:
    async def body(own: RemoteRank, members: ProxyGroup[Counter]) -> None:
        values = list(range(len(ranks)))
        assert len(members) == len(ranks)
        assert await members.gather("value") == values
        assert await members.gather("rank") == ranks
        assert await members.gather(Counter.text, mark="m") == [f"m{value}" for value in values]
        assert await members.reduce(operator.add, "text", ":") == "".join(f":{v}" for v in values)
        assert await members.step("add", 10) is None
        assert await members.reduce(max, "value") == 10 + max(values)
        odd = [value + 10 for value in values if value % 2]
        assert await members.gather("value", where=Counter.odd) == odd
        assert await members.scan(operator.add, "text", ":") == [
            "".join(f":{v + 10}" for v in values[: end + 1]) for end in values
        ]
        assert await members.scan(max, "value", where=Counter.odd) == odd
        kept = await members.select(Counter.odd)
        assert await kept.gather("value") == odd
        assert await members.select(lambda member: False) == ProxyGroup([])
        members.map(lambda member, by: member.add(by), 5, where=lambda member: member.count > 11)
        await own.finish()
        expected = [v + 10 + (5 if v + 10 > 11 else 0) for v in values]
        assert await members.gather("value") == expected
        assert await members.gather("slow", 0) == expected  # Asynchronous ones.
        assert await members.gather("value_of", members[0]) == [expected[0]] * len(ranks)
        assert await members[0].sum_of(members) == sum(expected)  # A group travels.

    with_group(ranks, body)


def test_a_member_that_fails_is_told_when_all_have_ended() -> None:
    async def body(own: RemoteRank, members: ProxyGroup[Counter]) -> None:
        def fail_at_two(member: Counter) -> None:
            member.add(100)
            if member.value() == 102:
                raise ValueError("two fails")

        with pytest.raises(ValueError, match="two fails"):
            await members.step(fail_at_two)
        assert await members.gather("value") == [100, 101, 102, 103]
        with pytest.raises(corymb.Error, match="no members"):
            await members.reduce(max, "value", where=lambda member: False)
        with pytest.raises(ZeroDivisionError):
            await members.scan(max, lambda member: 1 // (member.value() - 102))
        with pytest.raises(TypeError):
            await members.scan(operator.sub, "text", ":")
        with pytest.raises(corymb.Error, match="no members"):
            await ProxyGroup([]).reduce(max, "value")
        assert await ProxyGroup([]).gather("value") == []
        with pytest.raises(TypeError):
            await own.create_group([0, 1], Counter, no_such=1)

    with_group([0, 1, 2, 3], body)


def test_a_cancelled_group_call_cancels_its_members() -> None:
    async def body(own: RemoteRank, members: ProxyGroup[Counter]) -> None:
        call = members.step("slow", 3600)
        for member in members:
            while await member.cancellations() != (1, 0):
                pass
        call.cancel()
        for member in members:
            while await member.cancellations() != (1, 1):
                pass

    with_group([1, 2, 3, 2], body)


def test_groups_work_without_an_event_loop() -> None:
    with beside(3) as own:
        members = ProxyGroup([own.create(rank, Counter, rank).wait(LIMIT_S) for rank in (2, 1, 0)])
        assert members.gather("value").wait(LIMIT_S) == [2, 1, 0]
        assert members.reduce(operator.sub, "value").wait(LIMIT_S) == 2 - 1 - 0

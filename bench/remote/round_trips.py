#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Round trips of calls between two processes in Python: corymb.remote beside multiprocessing, rpyc,
Pyro5 and Ray, as far as they are installed, and the floor: a pickle there and back by mailboxes.

    python bench/remote/round_trips.py [--rounds 15] [--calls 500]

The contestants take turns. For each the median of the rounds' means is printed, with the quartiles,
and the ratio to corymb.remote.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import pickle
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.managers import BaseManager
from typing import Any

import corymb

Trip = Callable[[bytes], Any]
"""Makes so many calls one after the other: (argument, number of calls)."""
Trips = Callable[[bytes, int], None]
CPUS = sorted(os.sched_getaffinity(0))
FORK = multiprocessing.get_context("fork")


class Echo:
    """What is called."""

    def echo(self, data: bytes) -> bytes:
        return data


def on_cpu(cpu: int) -> None:
    os.sched_setaffinity(0, {CPUS[cpu % len(CPUS)]})


def one_by_one(trip: Trip) -> Trips:
    def trips(data: bytes, calls: int) -> None:
        for _ in range(calls):
            trip(data)

    return trips


@contextmanager
def process(body: Callable[..., None], *args: Any) -> Iterator[None]:
    def pinned() -> None:
        on_cpu(1)
        body(*args)

    child = FORK.Process(target=pinned)
    child.start()
    try:
        yield
    finally:
        child.join(10)
        child.kill()


def serve_mailbox(descriptor: int) -> None:
    box = corymb.MailboxGroup.open(descriptor).join(1)
    while box.wait():
        for source, message in box.receive():
            data = pickle.loads(message)
            if data is None:
                return
            box.send(source, pickle.dumps(data, 5))


@contextmanager
def floor() -> Iterator[Trips]:
    group = corymb.MailboxGroup(2, between_processes=True, message_bytes=248)
    with process(serve_mailbox, group.make_descriptor()), group.join(0) as box:

        def trip(data: bytes) -> Any:
            box.send(1, pickle.dumps(data, 5))
            box.wait()
            return pickle.loads(box.receive()[0][1])

        yield one_by_one(trip)
        box.send(1, pickle.dumps(None))


def serve_corymb(descriptor: int, in_loop: bool) -> None:
    own = corymb.RemoteGroup.open(descriptor).join(1)

    async def body() -> None:
        async with own:
            pass

    if in_loop:
        asyncio.run(body())
    else:
        with own:
            pass


@contextmanager
def corymb_waited() -> Iterator[Trips]:
    group = corymb.RemoteGroup(2, between_processes=True)
    with process(serve_corymb, group.make_descriptor(), False), group.join(0) as own:
        echo = own.create(1, Echo).wait()
        yield one_by_one(lambda data: echo.echo(data).wait())


@contextmanager
def corymb_awaited() -> Iterator[Trips]:
    group = corymb.RemoteGroup(2, between_processes=True)
    with process(serve_corymb, group.make_descriptor(), True), asyncio.Runner() as loop:
        own = group.join(0)
        loop.run(own.__aenter__())

        async def made() -> Any:
            return await own.create(1, Echo)

        echo = loop.run(made())

        async def calls_of(data: bytes, calls: int) -> None:
            for _ in range(calls):
                await echo.echo(data)

        yield lambda data, calls: loop.run(calls_of(data, calls))
        loop.run(own.__aexit__(None, None, None))


@contextmanager
def manager() -> Iterator[Trips]:
    class Manager(BaseManager):
        pass

    Manager.register("Echo", Echo)
    with Manager(ctx=FORK) as made:
        echo = made.Echo()  # type: ignore[attr-defined]
        yield one_by_one(lambda data: echo.echo(data))


def echoed(data: bytes) -> bytes:
    return data


@contextmanager
def pool() -> Iterator[Trips]:
    with FORK.Pool(1) as made:
        yield one_by_one(lambda data: made.apply(echoed, (data,)))


def serve_rpyc(port: Any) -> None:
    import rpyc
    from rpyc.utils.server import OneShotServer

    class Service(rpyc.Service):  # type: ignore[misc]
        def exposed_echo(self, data: bytes) -> bytes:
            return data

    server = OneShotServer(Service, hostname="127.0.0.1", port=0)
    port.send(server.port)
    server.start()


@contextmanager
def rpyc_waited() -> Iterator[Trips]:
    import rpyc

    here, there = FORK.Pipe()
    with process(serve_rpyc, there):
        connection = rpyc.connect("127.0.0.1", here.recv())
        yield one_by_one(connection.root.echo)
        connection.close()


def serve_pyro(address: Any) -> None:
    import Pyro5.api

    @Pyro5.api.expose
    class Service:
        def echo(self, data: bytes) -> bytes:
            return data

    daemon = Pyro5.api.Daemon(host="127.0.0.1")
    address.send(str(daemon.register(Service())))
    daemon.requestLoop()


@contextmanager
def pyro_waited() -> Iterator[Trips]:
    import Pyro5.api

    Pyro5.config.SERIALIZER = "msgpack"
    here, there = FORK.Pipe()
    child = FORK.Process(target=serve_pyro, args=(there,), daemon=True)
    child.start()
    with Pyro5.api.Proxy(here.recv()) as proxy:
        yield one_by_one(proxy.echo)
    child.kill()


@contextmanager
def ray_waited() -> Iterator[Trips]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    actor = ray.remote(Echo).remote()
    yield one_by_one(lambda data: ray.get(actor.echo.remote(data)))
    ray.shutdown()


CONTESTANTS = {
    "pickle + mailbox (the floor)": floor,
    "corymb.remote, wait": corymb_waited,
    "corymb.remote, await": corymb_awaited,
    "multiprocessing.Manager": manager,
    "multiprocessing.Pool.apply": pool,
    "rpyc": rpyc_waited,
    "Pyro5 (msgpack)": pyro_waited,
    "Ray actor": ray_waited,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=500)
    options = parser.parse_args()
    with ExitStack() as stack:
        made: dict[str, Trips] = {}
        for name, start in CONTESTANTS.items():
            try:
                made[name] = stack.enter_context(start())
            except ImportError as error:
                print(f"{name}: not here ({error})")
        on_cpu(0)
        for size in (0, 64):
            compare(made, bytes(size), options.rounds, options.calls)


def compare(made: dict[str, Trips], data: bytes, rounds: int, calls: int) -> None:
    times: dict[str, list[float]] = {name: [] for name in made}
    for trips in made.values():
        trips(data, calls // 5)
    for _ in range(rounds):
        for name, trips in made.items():
            begin = time.perf_counter()
            trips(data, calls)
            times[name].append((time.perf_counter() - begin) / calls * 1e6)
    own = statistics.median(times["corymb.remote, wait"])
    print(f"\n{len(data)} B, microseconds a round trip\n")
    print(f"{'':32}{'median':>9}{'quartiles':>20}{'to corymb':>11}")
    for name, taken in times.items():
        low, middle, high = statistics.quantiles(taken, n=4)
        print(f"{name:32}{middle:9.1f}{f'{low:.1f} to {high:.1f}':>20}{middle / own:11.2f}")


if __name__ == "__main__":
    main()

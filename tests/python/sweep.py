# SPDX-License-Identifier: Apache-2.0
"""Sweeps over all of the public interface (public_calls.py): `sweep.py SWEEP` runs one of them in
this process, says each call before it is made, and prints what is wrong, a line each.

A process of its own, so that a call which crashes is known: it is the last one that was said.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import inspect
import json
import os
import pickle
import random
import re
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import public_calls as calls
from limits import LIMIT_S, is_refused, scaled, wait_for

import corymb
from corymb import Team, _core

SAID = -1
# No call may take all memory.
ADDRESSES = 2 << 30


class Late(BaseException):
    """A call waits, which is its right."""


def say(text: str) -> None:
    """The call that comes, in one line that outlives a crash."""
    os.pwrite(SAID, text.encode(errors="backslashreplace")[:400].ljust(400), 0)


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise Late

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcome(call: Callable[[], object], seconds: float) -> str:
    """What comes of a call: "", the type and text of what it raises, or "late"."""
    try:
        with at_most(seconds):
            call()
    except Late:
        return "late"
    except corymb.Error as error:
        return f"{error.code}: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return ""


CPP = ("::", "std::", "nullptr", "nanobind", "size_t")


def faults_of(told: str) -> list[str]:
    """What is wrong with an outcome, whatever the call was."""
    if told.startswith("SystemError"):
        return ["breaks the interpreter's rules"]
    return [f"speaks C++: {word}" for word in CPP if word in told]


# One of each
# --------------------------------------------------------------------------------------------------


class World:
    """A handle of rank 0 of two of each kind; the other rank is here, too."""

    def __init__(self) -> None:
        threads = _core.ThreadTeam(2)
        self.team, self.other_team = Team(threads.join(0)), Team(threads.join(1))
        self.boxes = corymb.MailboxGroup(2, capacity=2)
        self.box, self.other_box = self.boxes.join(0), self.boxes.join(1)
        self.ring = corymb.BroadcastRing(slots=2)
        self.publisher, self.reader = self.ring.publisher(), self.ring.reader()
        self.places = corymb.MulticastGroup(3)
        self.place, self.other_place = self.places.initiator(0), self.places.initiator(1)
        self.place.join()
        self.other_place.join()
        self.remotes = corymb.RemoteGroup(2)
        self.remote, self.other_remote = self.remotes.join(0), self.remotes.join(1)
        own = [
            self.remotes, self.remote,
            self.team, self.team.Barrier_init(), self.team.isend(1, 1), self.team.irecv(1),
            self.boxes, self.box, self.ring, self.publisher, self.reader, self.places, self.place,
            self.place.call(print), self.place.quiescent(),
            corymb.Op.Create(lambda x, y, kind: None),
        ]  # fmt: skip
        self.handles: dict[type, Any] = {type(thing): thing for thing in own}

    def end(self) -> None:
        """Rank 0 gives everything up."""
        for thing in (self.box, self.publisher, self.reader, self.place, self.remote):
            thing.close()
        self.team.abandon("it ends")
        self.team.Free()

    def expect_unharmed(self) -> None:
        """Both ranks go on, whatever a forked child did with its copies."""
        for begun in [team.Ibarrier() for team in (self.team, self.other_team)]:
            begun.Wait()
        assert self.other_box.send(0, b"x", seconds=LIMIT_S)
        assert self.box.receive() == [(1, b"x")]
        self.publisher.publish(b"y", LIMIT_S)
        assert [message for _, message, _ in self.reader.receive()] == [b"y"]
        token = self.other_place.call(lambda: None)
        wait_for(lambda: self.place.poll() >= 0 and token.test())


def models() -> list[Any]:
    machine = calls.machine()
    mailbox = corymb.choose_mailbox(machine, 4)
    choice = calls.choice()
    ring = corymb.BroadcastRing()
    reader = ring.reader()
    boxes = corymb.MailboxGroup(2, between_processes=True)
    box = boxes.join(0)
    group = corymb.MulticastGroup(2)
    member, me = group.initiator(1), group.initiator(0)
    member.join()
    token = me.call(print)
    level = {"level": "L1", "working_set_bytes": 1, "read_gbs": 1, "write_gbs": 1, "copy_gbs": 1}
    shared = {"use": "word", "scope": "machine", "origin": "assumed", "count": [2], "value": [9]}
    measured = json.loads(machine.to_json()) | {"memory": [level], "shared": [shared]}
    made: list[Any] = [
        corymb.Machine.from_json(json.dumps(measured)), machine, mailbox, choice, choice.plan,
        corymb.simulate_mailbox(machine, "ring"), corymb.counter_barrier(machine),
        corymb.choose_multicast(machine), corymb.simulate_multicast(machine, [1]),
        calls.cluster(), calls.cluster_choice(), corymb.usable_cpus(), corymb.probe_permissions(),
        corymb.spot_check(machine), corymb.simulate(choice.plan, machine, [0, 1]),
        ring.readers(), group.under_way(), token.late(), corymb.trace_process(os.getpid()),
        *(corymb.Error("text", code) for code in ["none", *corymb.errors.OF_CODES]),
        corymb.RankError("text", 1),
        _core.ThreadTeam(2), corymb.IN_PLACE, corymb.Machine.gallery("scc-48c"),
        corymb.StopSource(), calls.noise(), calls.noise_trace(),
        corymb.Phases(calls.cluster_choice().plan, calls.cluster(), 64), *statistics(),
    ]  # fmt: skip
    del reader, box
    return made


def statistics() -> list[Any]:
    """Counts of a rank, and a plan in them."""
    team = corymb.Team(_core.ThreadTeam(1).join(0))
    team.Barrier()
    counted = team.statistics()
    return [counted, counted.plans[0]]


def parts_of(things: list[Any]) -> dict[type, Any]:
    """One object of each class among the things and what they hold."""
    found: dict[type, Any] = {}
    left = list(things)
    while left:
        thing = left.pop()
        if isinstance(thing, (list, tuple)):
            left += thing[:2]
        elif type(thing) in public_classes():
            found.setdefault(type(thing), thing)
            for name in members(type(thing)):
                with contextlib.suppress(Exception):
                    value = getattr(thing, name)
                    left += [value] if not callable(value) else []
    return found


def public_classes() -> list[type]:
    named = [getattr(corymb, name) for name in corymb.__all__] + list(vars(_core).values())
    kinds = {kind for kind in [*named, *calls.HANDLES] if isinstance(kind, type)}
    # Team, RemoteGroup, RemoteRank and SharedArray are made of them.
    kinds -= {
        _core.NativeTeam, _core.NativeRemoteGroup, _core.NativeRemoteRank, _core.NativeSharedArray
    }  # fmt: skip
    return sorted((k for k in kinds if not issubclass(k, enum.Enum)), key=lambda k: k.__name__)


def members(kind: type) -> list[str]:
    bases = [base for base in kind.__mro__ if base.__module__ == "builtins"]
    own = set(dir(kind)).difference(*(dir(base) for base in bases))
    return sorted(name for name in own if not name.startswith("_"))


# Values
# --------------------------------------------------------------------------------------------------


class Odd:
    """Raises wherever it is asked what it is."""

    def _raise(self, *_: object) -> Any:
        raise ZeroDivisionError("odd")

    __index__ = __len__ = __iter__ = __float__ = __bool__ = __hash__ = _raise
    __getitem__ = __call__ = __fspath__ = __reduce_ex__ = __buffer__ = _raise


def hostile() -> list[Any]:
    """Values of every sort, most of which are wrong wherever they stand."""
    released: Any = memoryview(bytearray(8))
    own: list[Any] = []
    never = []
    for kind in public_classes():
        with contextlib.suppress(TypeError):
            never.append(kind.__new__(kind))
    released.release()
    own.append(own)
    ended = World()
    ended.end()
    live = World()
    return [
        None, True, -1, 0, 1, 2**31, 2**63 - 1, -(2**63), 10**30, 1.5, -1.0, float("nan"),
        float("inf"), "", "x", "\0", "\ud800", b"", b"x" * 1000, bytearray(8), released,
        memoryview(bytearray(16))[::2], [], [None], own, (), ((),), {}, {"a": 1}, object(), Odd(),
        print, int, ..., iter([1]), np.zeros(0), np.zeros((2, 2)).T, np.array([None]),
        np.zeros(2, ">f8"), np.zeros(2, "U3"), *ended.handles.values(), *live.handles.values(),
        *never[::4],
    ]  # fmt: skip


def label(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = type(value).__name__
    return text[:40]


# Sweeps
# --------------------------------------------------------------------------------------------------

Target = tuple[str, Callable[..., Any], tuple[Any, ...], dict[str, Any]]
# What is the same in all calls.
FIXED: dict[str, dict[str, Any]] = {
    "run": {"threads": True},
    "run_plan": {"seconds": 0.01, "repetitions": 2},
}


def targets() -> Iterator[Callable[[], list[Target]]]:
    """What can be called: makers of (name, function, right arguments, options by name), anew for
    each round."""
    for name, arguments in calls.FUNCTIONS.items():
        options = calls.OPTIONS.get(name, {})
        yield lambda n=name, a=arguments, o=options: [(n, getattr(corymb, n), a(), o)]
    for kind, arguments in calls.CONSTRUCTORS.items():
        yield lambda k=kind, a=arguments: [(k.__name__, k, a(), calls.OPTIONS.get(k.__name__, {}))]
    for kind, table in calls.HANDLES.items():
        for name, call in table.items():
            yield lambda k=kind, n=name, c=call: methods(World().handles[k], n, c.arguments())
    held = parts_of(models())
    for kind, methods_of in calls.DATA.items():
        for name, arguments in methods_of.items():
            yield lambda k=kind, n=name, a=arguments: methods(held[k], n, a())


def methods(thing: Any, name: str, arguments: tuple[Any, ...]) -> list[Target]:
    """One, or none if it is a property."""
    if isinstance(inspect.getattr_static(type(thing), name, None), property):
        return []
    return [(f"{type(thing).__name__}.{name}", getattr(thing, name), arguments, {})]


def changed(arguments: tuple[Any, ...], values: list[Any], seed: int) -> Iterator[tuple[Any, ...]]:
    """One argument is another, or there are more or fewer, or all are chance."""
    for value in values:
        for at in range(len(arguments)):
            yield (*arguments[:at], value, *arguments[at + 1 :])
        yield (*arguments, value)
    draw = random.Random(seed)
    for count in range(6):
        for _ in range(6):
            yield tuple(draw.choice(values) for _ in range(count))


def wrong_arguments() -> list[str]:
    """Of every function, constructor and method."""
    values = hostile()
    wrong: set[str] = set()
    for make in targets():
        for name, function, arguments, options in make():
            ways = [(given, {}) for given in changed(arguments, values, len(name))]
            ways += [(arguments, {key: value}) for key in options for value in values]
            for given, by_name in ways:
                told, faults = tried(name, function, given, by_name)
                wrong.update(faults)
                if not told or "late" in told or "broken" in told:  # It may have ended.
                    function = make()[0][1]
    return sorted(wrong)


def tried(name: str, function: Any, given: tuple[Any, ...], by_name: Any) -> tuple[str, list[str]]:
    words = [*map(label, given), *(f"{key}={label(value)}" for key, value in by_name.items())]
    text = f"{name}({', '.join(words)})"
    say(text)
    told = outcome(lambda: function(*given, **(FIXED.get(name, {}) | by_name)), 0.02)
    return told, [f"{text} {fault}: {told}" for fault in faults_of(told)]


def empty_objects() -> list[str]:
    """Of each class one that was never made: no method and no property of it crashes."""
    wrong = []
    for kind in public_classes():
        with contextlib.suppress(TypeError):
            thing = kind.__new__(kind)
            for name in [*members(kind), "__repr__", "__len__", "__enter__", "__reduce__"]:
                text = f"empty {kind.__name__}.{name}"
                say(text)
                told = outcome(partial(use, thing, name), 1)
                wrong += [f"{text} {fault}: {told}" for fault in faults_of(told)]
    return wrong


def use(thing: Any, name: str, arguments: tuple[Any, ...] = ()) -> None:
    value = getattr(thing, name)
    if callable(value):
        value(*arguments)


def copies() -> list[str]:
    """A handle that is copied or pickled is refused, or another handle."""
    wrong = []
    for kind, thing in [*World().handles.items(), *parts_of(models()).items()]:
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            text = f"{make.__name__} of {kind.__name__}"
            say(text)
            told = outcome(partial(make, thing), scaled(1))
            wrong += [f"{text} {fault}: {told}" for fault in faults_of(told)]
    return wrong


Case = tuple[str, str, Callable[[], object]]


def cases(world: World, kinds: Any) -> Iterator[Case]:
    """Name, kind and call of all that the handles can."""
    for kind in kinds:
        for name, call in calls.HANDLES[kind].items():
            thing, arguments = world.handles[kind], call.arguments()
            yield (
                f"{kind.__name__}.{name}",
                call.kind,
                lambda t=thing, n=name, a=arguments: use(t, n, a),
            )


def expected(case: Case, refused: tuple[str, ...], words: tuple[str, ...], what: str) -> list[str]:
    """What is wrong about a call that must be refused if it is of one of these kinds."""
    name, kind, call = case
    say(f"{name} {what}")
    told = outcome(call, scaled(5))
    wrong = faults_of(told)
    is_refused = re.match("(invalid_argument|team_broken): .*", told)
    if kind in refused and not (is_refused and any(word in told for word in words)):
        wrong.append("is not refused")
    elif told == "late":
        wrong.append("waits")
    return [f"{name} {what} {fault}: {told}" for fault in wrong]


def ended_handles() -> list[str]:
    world = World()
    world.end()
    return [
        fault
        for case in cases(world, calls.HANDLES)
        for fault in expected(case, ("acts", "looks"), ("",), "of a handle that has ended")
    ]


def forked_child() -> list[str]:
    """Calls through what a child has inherited are refused, and harm nobody."""
    world = World()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        refused = ("acts", "completes", "any_thread")
        wrong = [
            fault
            for case in cases(world, calls.HANDLES)
            for fault in expected(case, refused, ("",), "in a forked child")
        ]
        os.write(writing, "\n".join(wrong)[:60000].encode(errors="backslashreplace"))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        wrong = pipe.read().splitlines()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        os.kill(os.getpid(), -status if status < 0 else signal.SIGKILL)
    world.expect_unharmed()
    return wrong


Blocked = tuple[Any, Any, Any, list[type]]
# How another thread comes to wait with a handle, how that is seen, how it ends, and whose calls are
# refused meanwhile.
BLOCKED: list[Blocked] = [
    (lambda w: w.team.Barrier(), lambda w: w.team.progress(), lambda w: w.other_team.Barrier(),
     [Team, corymb.Request, calls.ObjectSend, calls.ObjectReceive]),
    (lambda w: w.box.wait(LIMIT_S), lambda w: w.box.has_left(1),
     lambda w: w.other_box.send(0, b"x"), [corymb.Mailbox]),
    (lambda w: w.remote.serve(LIMIT_S), lambda w: w.remote.post(1, print),
     lambda w: w.other_remote.post(0, dict), [corymb.RemoteRank]),
    (lambda w: w.reader.wait(LIMIT_S), lambda w: w.reader.last,
     lambda w: w.publisher.publish(b"x"), [corymb.BroadcastReader]),
    (lambda w: w.publisher.publish(b"x", LIMIT_S), lambda w: w.publisher.published,
     lambda w: w.reader.receive(), [corymb.BroadcastPublisher]),
    (lambda w: w.place.sleep(LIMIT_S), lambda w: w.place.on(2, print),
     lambda w: w.other_place.call(lambda: None),
     [corymb.Multicast, corymb.MulticastToken, _core.MulticastQuiescence]),
]  # fmt: skip


def two_threads() -> list[str]:
    """While one waits with a handle, others are refused."""
    wrong = []
    words = ("another thread", "in use")
    for wait, probe, release, kinds in BLOCKED:
        world = World()
        if corymb.BroadcastPublisher in kinds:
            wait_for(lambda: not world.publisher.try_publish(b"x"))  # noqa: B023
        thread = threading.Thread(target=wait, args=(world,))
        thread.start()
        wait_for(partial(is_refused, partial(probe, world), *words))
        for case in cases(world, kinds):
            wrong += expected(
                case, ("acts", "looks", "completes", "ends"), words, "beside another thread"
            )
        release(world)
        thread.join(LIMIT_S)
        if thread.is_alive():
            wrong.append(f"{kinds[0].__name__}: the thread that waited waits on")
    return wrong


def unknown() -> list[str]:
    """What is public and in no table, and classes of which there is no object to try."""
    missing = [
        f"corymb.{name} is not in FUNCTIONS"
        for name in corymb.__all__
        if inspect.isroutine(getattr(corymb, name)) and name not in calls.FUNCTIONS
    ]
    held = parts_of(models())
    for kind in public_classes():
        if kind in calls.HANDLES:
            table = calls.HANDLES[kind]
            missing += [f"{kind.__name__}.{m}" for m in members(kind) if m not in table]
            continue
        if kind not in held:
            missing.append(f"{kind.__name__}: models() gives none")
        for name in members(kind):
            member = inspect.getattr_static(kind, name)
            if not isinstance(member, property) and name not in calls.DATA.get(kind, {}):
                missing.append(f"{kind.__name__}.{name} is not in DATA")
    tables = [*calls.HANDLES.items(), *calls.DATA.items()]
    return missing + [
        f"{kind.__name__} has no {name}"
        for kind, table in tables
        for name in table
        if not hasattr(kind, name)
    ]


def documented() -> list[str]:
    """Signatures and texts of the package say nothing in C++."""
    things = [(name, getattr(corymb, name)) for name in corymb.__all__]
    for kind in public_classes():
        things += [(f"{kind.__name__}.{name}", getattr(kind, name)) for name in members(kind)]
    return [
        f"{name}: {word}" for name, thing in things for word in CPP if word in (thing.__doc__ or "")
    ]


SWEEPS: dict[str, Callable[[], list[str]]] = {
    function.__name__: function
    for function in (
        wrong_arguments, empty_objects, copies, ended_handles, forked_child, two_threads, unknown,
        documented,
    )
}  # fmt: skip


def main(sweep: str, said: str) -> None:
    global SAID
    SAID = os.open(said, os.O_WRONLY | os.O_CREAT, 0o600)
    warnings.simplefilter("ignore")  # Of objects that were never made.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    sys.stdin = open(os.devnull)  # noqa: SIM115
    out, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115
    for line in SWEEPS[sweep]():
        print(line.encode(errors="backslashreplace").decode(), file=out)
    out.flush()
    os._exit(0)  # What the calls have left behind is not tried here.


if __name__ == "__main__":
    main(*sys.argv[1:])

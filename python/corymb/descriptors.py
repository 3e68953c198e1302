# SPDX-License-Identifier: Apache-2.0
"""Groups, descriptors and models as arguments for other processes.

multiprocessing gives a group to a child that it does not fork, or through a queue; the child has a
descriptor of its own then. A descriptor can be given to every child.

>>> import pickle, corymb
>>> pickle.loads(pickle.dumps(corymb.Machine.gallery("scc-48c"))).name
'scc-48c'
"""

from __future__ import annotations

import copyreg
import os
import weakref
from collections.abc import Callable
from typing import Any

from corymb import _core


class Descriptor(int):
    """The number of a descriptor, which its caller closes. Pickled, it is one of the process that
    unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing import reduction  # Here, so that `import corymb` stays light.

        return opened, (reduction.DupFd(int(self)), Descriptor)


def opened(duplicate: Any, take: Callable[[int], Any]) -> Any:
    """In the process that unpickles."""
    return take(duplicate.detach())


def attached(number: int, attach: Callable[[int], Any]) -> Any:
    try:
        return attach(number)
    finally:
        os.close(number)


def mailboxes(number: int) -> Any:
    return attached(number, _core.MailboxGroup.open)


def ring(number: int) -> Any:
    return attached(number, _core.BroadcastRing.open)


def multicast(number: int) -> Any:
    return attached(number, _core.MulticastGroup.open)


def reduce_group(take: Callable[[int], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def reduce(group: Any) -> tuple[Any, ...]:
        from multiprocessing import context, reduction

        number = int(group.make_descriptor())
        starting = context.get_spawning_popen()
        duplicate = reduction.DupFd(number)
        if starting is None:  # It is a duplicate already.
            os.close(number)
        else:
            weakref.finalize(starting, os.close, number)
        return opened, (duplicate, take)

    return reduce


def machine_of(text: str) -> _core.Machine:
    return _core.Machine.from_json(text)


def plan_of(text: str) -> _core.Plan:
    return _core.Plan.from_json(text)


def cluster_of(text: str) -> _core.Cluster:
    return _core.Cluster.from_json(text)


def reduce_model(take: Callable[[str], Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda model: (take, (model.to_json(),))


def make_team_descriptor(size: int) -> Descriptor:
    """Makes the memory of a team of `size` ranks; processes that have the descriptor attach to it.

    Children of fork inherit it; multiprocessing gives it to others as an argument.
    """
    return Descriptor(_core.make_team_descriptor(size))


def make_picklable() -> None:
    """What the module's classes lack for pickle."""
    groups: list[tuple[Any, Callable[[int], Any]]] = [
        (_core.MailboxGroup, mailboxes),
        (_core.BroadcastRing, ring),
        (_core.MulticastGroup, multicast),
    ]
    for kind, take in groups:
        copyreg.pickle(kind, reduce_group(take))
        kind.make_descriptor = own_descriptor(kind.make_descriptor)
    models: list[tuple[Any, Callable[[str], Any]]] = [
        (_core.Machine, machine_of),
        (_core.Plan, plan_of),
        (_core.Cluster, cluster_of),
    ]
    for model, read in models:
        copyreg.pickle(model, reduce_model(read))


def own_descriptor(make: Callable[[Any], int]) -> Callable[[Any], Descriptor]:
    def make_descriptor(group: Any) -> Descriptor:
        return Descriptor(make(group))

    make_descriptor.__doc__ = make.__doc__
    return make_descriptor

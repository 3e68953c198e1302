# SPDX-License-Identifier: Apache-2.0
"""Every public function, method and property of the package: arguments that are right, and what is
refused. The sweeps of sweep.py go over it; test_sweep.py fails when something public is not here.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import corymb
from corymb import Team, _core
from corymb.object_messages import ObjectReceive, ObjectSend
from corymb.remote import Proxy

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Call:
    """`arguments()` are those of a call that is right on rank 0 of two."""

    arguments: Callable[[], Arguments]
    kind: str
    """acts: refused on a handle that has ended, in a forked child, and while another thread is in a
    call of the handle. looks: as acts, but has an answer in a child. completes: as acts, but may
    have an answer when the handle has ended. ends: refused while another thread is in a call.
    any_thread: refused in a child. asks: always has an answer."""


def acts(*arguments: Any) -> Call:
    return Call(lambda: tuple(a() if callable(a) else a for a in arguments), "acts")


def of_kind(kind: str, *arguments: Any) -> Call:
    return Call(lambda: arguments, kind)


def asks(*arguments: Any) -> Call:
    return of_kind("asks", *arguments)


def ends(*arguments: Any) -> Call:
    return of_kind("ends", *arguments)


def completes(*arguments: Any) -> Call:
    return of_kind("completes", *arguments)


def looks() -> Call:
    return of_kind("looks")


def any_thread(*arguments: Any) -> Call:
    return of_kind("any_thread", *arguments)


def one() -> array[int]:
    return array("q", [1])


def two() -> array[int]:
    return array("q", [1, 2])


COLLECTIVES: dict[str, Arguments] = {
    "Barrier": (),
    "Bcast": (one,),
    "Reduce": (one, one),
    "Allreduce": (one, one),
    "Gather": (one, two),
    "Scatter": (two, one),
    "Allgather": (one, two),
    "Alltoall": (two, two),
    "Reduce_scatter_block": (two, one),
    "Scan": (one, one),
    "Exscan": (one, one),
    "Gatherv": (one, lambda: [two(), [1, 1]]),
    "Scatterv": (lambda: [two(), [1, 1]], one),
    "Allgatherv": (one, lambda: [two(), [1, 1]]),
    "Alltoallv": (lambda: [two(), [1, 1]], lambda: [two(), [1, 1]]),
    "Reduce_scatter": (two, one, lambda: [1, 1]),
}


def collectives() -> Iterator[tuple[str, Call]]:
    for name, arguments in COLLECTIVES.items():
        yield name, acts(*arguments)
        yield f"I{name[0].lower()}{name[1:]}", acts(*arguments)
        yield f"{name}_init", acts(*arguments)


TEAM = dict(collectives()) | {
    "Send": acts(one, 1),
    "Recv": acts(one, 1),
    "Sendrecv": acts(one, 1, 0, one, 1),
    "Isend": acts(one, 1),
    "Irecv": acts(one, 1),
    "Send_init": acts(one, 1),
    "Recv_init": acts(one, 1),
    "barrier": acts(),
    "bcast": acts(3),
    "gather": acts(3),
    "allgather": acts(3),
    "scatter": acts((1, 2)),
    "alltoall": acts((1, 2)),
    "allreduce": acts(3),
    "reduce": acts(3),
    "scan": acts(3),
    "exscan": acts(3),
    "send": acts(3, 1),
    "isend": acts(3, 1),
    "recv": acts(1),
    "irecv": acts(1),
    "sendrecv": acts(3, 1, 0, None, 1),
    "Split": acts(),
    "Dup": acts(),
    "shrink": acts(),
    "warm_up": acts("barrier"),
    "statistics": acts(),
    "limits": acts(),
    "progress": acts(),
    "abandon": completes("tired"),
    "Free": completes(),
    "Get_rank": asks(),
    "Get_size": asks(),
    "rank": asks(),
    "size": asks(),
    "memory": asks(),
    "native_split": acts(0, 0),
    "native_shrink": acts(),
    "native_warm_up": acts("barrier", 8, 0, False),
    "native_set_limits": acts(0.0, None),
    "native_isend": acts(one, 1),
    "native_irecv": acts(one, 1),
    "native_part": acts(0, "allgather", one, two),
}
REQUEST = {
    "Test": acts(),
    "test": acts(),
    "Wait": acts(),
    "wait": acts(),
    "Start": acts(),
    "Cancel": acts(),
    "cancel": acts(),
    "active": asks(),
    "persistent": asks(),
    "Waitall": asks(()),
    "Waitany": asks(()),
    "Testall": asks(()),
    "Startall": asks(()),
}
OBJECT_REQUEST = {"wait": completes(), "test": completes()}
MAILBOX = {
    "send": acts(1, b"x"),
    "send_batch": acts(1, (b"x",)),
    "wait_for_room": acts(1, 0.0),
    "probe": acts(lambda: print),
    "receive": acts(),
    "wait": acts(0.0),
    "has_left": acts(1),
    "close": ends(),
    "rank": asks(),
    "size": asks(),
}
MAILBOX_GROUP = {
    "join": any_thread(1),
    "open": asks(-1),
    "make_descriptor": asks(),
    "size": asks(),
    "protocol": asks(),
    "reason": asks(),
    "memory": asks(),
}
RING = {
    "publisher": any_thread(),
    "reader": any_thread(),
    "readers": asks(),
    "open": asks(-1),
    "make_descriptor": asks(),
    "memory": asks(),
}
PUBLISHER = {
    "publish": acts(b"x", 0.0),
    "try_publish": acts(b"x"),
    "published": looks(),
    "drop": acts(0),
    "take_dropped": acts(),
    "close": ends(),
}
READER = {
    "receive": acts(),
    "wait": acts(0.0),
    "number": looks(),
    "policy": looks(),
    "at_end": acts(),
    "last": looks(),
    "close": ends(),
}
MULTICAST_GROUP = {
    "join": any_thread(2),
    "initiator": any_thread(3),
    "open": asks(-1),
    "make_descriptor": asks(),
    "size": asks(),
    "members": asks(),
    "topology": asks(),
    "under_way": asks(),
}
MULTICAST = {
    "join": acts(),
    "leave": acts(),
    "poll": acts(),
    "sleep": acts(0.0),
    "quiescent": asks(),
    "on": acts(1, lambda: print),
    "call": acts(lambda: print),
    "send": acts(b"x"),
    "rank": asks(),
    "size": asks(),
    "is_member": asks(),
    "close": ends(),
}
TOKEN = {"wait": completes(0.0), "test": completes(), "late": asks(), "members": asks()}
REMOTE_GROUP = {
    "join": any_thread(1),
    "open": asks(-1),
    "make_descriptor": asks(),
    "size": asks(),
}
THERE: Proxy[Any] = Proxy(None, 1, 5)  # type: ignore[arg-type]
REMOTE = {
    "create": acts(1, lambda: dict),
    "offer": asks(3),
    "destroy": acts(THERE),
    "local": asks(THERE),
    "at": acts(1, lambda: dict),
    "call": acts(THERE, lambda: dict.items),
    "tell": acts(1, lambda: dict),
    "post": acts(1, lambda: dict),
    "finish": asks(),
    "create_group": asks([1], dict),
    "offer_function": acts("f", lambda: print),
    "withdraw_function": acts("f"),
    "call_function": acts(1, "g", b"x"),
    "serve": acts(0.0),
    "shared_array": acts("array", 4),
    "close": ends(),
    "rank": asks(),
    "size": asks(),
    "object_count": asks(),
}
OP = {"Create": asks(print), "Free": asks(), "Is_commutative": asks(), "__call__": asks(1, 2)}

HANDLES: dict[type, dict[str, Call]] = {
    Team: TEAM,
    corymb.Request: REQUEST,
    ObjectSend: OBJECT_REQUEST,
    ObjectReceive: OBJECT_REQUEST,
    corymb.MailboxGroup: MAILBOX_GROUP,
    corymb.Mailbox: MAILBOX,
    corymb.BroadcastRing: RING,
    corymb.BroadcastPublisher: PUBLISHER,
    corymb.BroadcastReader: READER,
    corymb.MulticastGroup: MULTICAST_GROUP,
    corymb.Multicast: MULTICAST,
    corymb.MulticastToken: TOKEN,
    _core.MulticastQuiescence: {"__enter__": acts()},
    corymb.Op: OP,
    corymb.RemoteGroup: REMOTE_GROUP,
    corymb.RemoteRank: REMOTE,
}


def machine() -> corymb.Machine:
    return corymb.Machine.gallery("m1-ultra-20c")


def cluster() -> corymb.Cluster:
    from corymb.command import clusters

    return clusters.cluster_of([(2, 2)])


def noise() -> corymb.Noise:
    return corymb.Noise.periodic(1000, 10)


def noise_trace() -> corymb.NoiseTrace:
    cpu = {"cpu": 0, "recorded": [[0, 100]], "interruptions": [[10, 5]]}
    return corymb.NoiseTrace.from_json(json.dumps({"schema": "corymb-noise/1", "cpus": [cpu]}))


def choice() -> corymb.PlanChoice:
    return corymb.make_plan(machine(), "broadcast", root=0, algorithm="star", placement=[0, 1])


def plan() -> corymb.Plan:
    return choice().plan


def cluster_choice() -> corymb.PlanChoice:
    return corymb.make_cluster_plan(cluster(), "allgather", bytes=64)


# Arguments that are right.
FUNCTIONS: dict[str, Callable[[], Arguments]] = {
    "algorithm_names": lambda: ("barrier",),
    "attach": lambda: ("", 0, -1),
    "cached_machine": lambda: (),
    "cached_model_path": lambda: (),
    "cached_noise_path": lambda: (),
    "choose_mailbox": lambda: (machine(), 4),
    "choose_multicast": lambda: (machine(),),
    "counter_barrier": lambda: (machine(), [0, 1]),
    "discover_topology": lambda: (),
    "export_hwloc_distances": lambda: (machine(), "distances.xml"),
    "gallery_names": lambda: (),
    "make_cluster_plan": lambda: (cluster(), "allgather"),
    "make_plan": lambda: (machine(), "barrier"),
    "make_team_descriptor": lambda: (2,),
    "measure": lambda: (0.01,),
    "networks_from": lambda: ("2000,400,3,12", [0, 0, 1, 1]),
    "node_traffic": lambda: (cluster_choice().plan, cluster()),
    "probe_permissions": lambda: (),
    "run": lambda: (repr, 1, (), {}),
    "run_plan": lambda: (plan(),),
    "scheme_names": lambda: (cluster(), "allgather"),
    "noisy_makespans": lambda: (plan(), machine(), noise()),
    "record_noise": lambda: (0.01,),
    "simulate": lambda: (plan(), machine(), [0, 1]),
    "simulate_cluster": lambda: (cluster_choice().plan, cluster()),
    "simulate_mailbox": lambda: (machine(), "ring"),
    "simulate_multicast": lambda: (machine(), [1]),
    "spot_check": lambda: (machine(),),
    "topology_from_synthetic": lambda: ("pu:2",),
    "topology_from_xml": lambda: ("missing.xml",),
    "trace_process": lambda: (1,),
    "traffic": lambda: (plan(),),
    "usable_cpus": lambda: (),
    "version": lambda: (),
}
# Of functions and constructors that take any by name; not those that say how long to search.
OPTIONS: dict[str, dict[str, Any]] = {
    "BroadcastRing": {"slots": 4, "readers": 2, "message_bytes": 8, "wait": "park"},
    "MailboxGroup": {"protocol": "ring", "message_bytes": 8, "capacity": 4, "wait": "park",
                     "machine": None},
    "MulticastGroup": {"topology": "flat", "plan": None, "fan_out": 2, "flat_up_to": 2,
                       "acknowledgement": "counters", "gather": None, "calls": 2,
                       "deadline": 1.0, "wait": "park", "machine": None, "placement": []},
    "attach": {"descriptor": -1, "patience": 0.01, "deadline": 1.0},
    "make_cluster_plan": {"bytes": 8, "root": 0, "algorithm": "best"},
    "make_plan": {"placement": [0, 1], "root": 0, "bytes": 8, "algorithm": "star", "seed": 1,
                  "cpus": 1, "cell_slots": 8},
    "measure": {"cpus": [], "progress": None},
    "noisy_makespans": {"bytes": 8, "replays": 5},
    "record_noise": {"cpus": [], "progress": None},
    "run": {"start_method": "fork", "patience": 1.0, "deadline": 1.0},
    "run_plan": {"cpus": [], "repetitions": 2, "bytes": 8, "seconds": 1.0, "progress": None},
    "simulate_mailbox": {"placement": None, "message_bytes": 8, "look": None},
    "simulate_multicast": {"placement": None, "initiator": 0, "topology": "flat", "plan": None},
}  # fmt: skip
# Of classes that can be made.
CONSTRUCTORS: dict[type, Callable[[], Arguments]] = {
    corymb.MailboxGroup: lambda: (2,),
    corymb.RemoteGroup: lambda: (2,),
    corymb.BroadcastRing: lambda: (),
    corymb.MulticastGroup: lambda: (3,),
    corymb.StopSource: lambda: (),
    corymb.Phases: lambda: (cluster_choice().plan, cluster(), 64),
    **{
        kind: partial(lambda code: ("text", code, (1,)), code)
        for code, kind in {"none": corymb.Error, **corymb.errors.OF_CODES}.items()
    },
    corymb.RankError: lambda: ("text", 1),
    Team: lambda: (_core.ThreadTeam(1).join(0),),
    _core.ThreadTeam: lambda: (2,),
}
# Methods of what holds data, beside its properties.
DATA: dict[type, dict[str, Callable[[], Arguments]]] = {
    corymb.Machine: {
        "check": lambda: (),
        "class_matrix": lambda: (),
        "class_of": lambda: (0, 1),
        "from_json": lambda: (machine().to_json(),),
        "gallery": lambda: ("scc-48c",),
        "import_latency_csv": lambda: ("0,1\n1,0\n", "name", "ns"),
        "import_smelt_csv": lambda: ("0,1\n1,0\n", "0,1\n1,0\n", "name"),
        "index_of_cpu": lambda: (0,),
        "load": lambda: ("missing.json",),
        "receive_costs": lambda: (),
        "save": lambda: ("model.json",),
        "send_costs": lambda: (),
        "sha256": lambda: (),
        "to_json": lambda: (),
        "with_levels": lambda: ("none",),
    },
    corymb.Cluster: {
        "from_json": lambda: (cluster().to_json(),),
        "load": lambda: ("missing.json",),
        "to_json": lambda: (),
    },
    corymb.Noise: {
        "from_text": lambda: ("periodic:100:1",),
        "periodic": lambda: (100.0, 1.0, [5.0]),
        "recorded": lambda: (noise_trace(),),
    },
    corymb.NoiseTrace: {
        "from_json": lambda: (noise_trace().to_json(),),
        "interruptions": lambda: (0,),
        "load": lambda: ("missing.json",),
        "to_json": lambda: (),
    },
    corymb.Phases: {"run": lambda: ("blocking", noise())},
    corymb.Plan: {
        "check": lambda: (),
        "from_json": lambda: (plan().to_json(),),
        "hash": lambda: (),
        "to_json": lambda: (),
    },
    _core.UsableCpus: {"count": lambda: ()},
    _core.ThreadTeam: {"abandon": lambda: (0, "tired"), "join": lambda: (0,)},
    corymb.PlanChoice: {
        "lower_bound": lambda: (machine(),),
        "to_json": lambda: (machine(),),
    },
    corymb.StopSource: {"request_stop": lambda: ()},
}

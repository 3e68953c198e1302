#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the adapter's entry points from a table: entry_points.py FOLDER.

22 collectives, each blocking, nonblocking (I...) and persistent (..._init), with int and with
MPI_Count counts (..._c). Three files: entry_points.cpp, the functions that a program calls;
pmpi_functions.inc, the names that host.hpp looks up in the MPI below; operations.hpp, the
collectives as an enumeration with their names and properties.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

# Parameters: name:kind. A kind's C type is that of the form with int counts and of that with _c.
KINDS = {
    "in": ("const void*", "const void*"),
    "out": ("void*", "void*"),
    "count": ("int", "MPI_Count"),
    "counts": ("const int*", "const MPI_Count*"),
    "displs": ("const int*", "const MPI_Aint*"),
    "addresses": ("const MPI_Aint*", "const MPI_Aint*"),
    "type": ("MPI_Datatype", "MPI_Datatype"),
    "types": ("const MPI_Datatype*", "const MPI_Datatype*"),
    "op": ("MPI_Op", "MPI_Op"),
    "root": ("int", "int"),
    "comm": ("MPI_Comm", "MPI_Comm"),
    "info": ("MPI_Info", "MPI_Info"),
    "request": ("MPI_Request*", "MPI_Request*"),
    "int": ("int", "int"),
    "flag": ("int*", "int*"),
    "message": ("MPI_Message*", "MPI_Message*"),
    "status": ("MPI_Status*", "MPI_Status*"),
    "size": ("MPI_Aint", "MPI_Aint"),
    "unit": ("int", "MPI_Aint"),
    "window": ("MPI_Win*", "MPI_Win*"),
}

_SEND = "sendbuf:in sendcount:count sendtype:type"
_RECV = "recvbuf:out recvcount:count recvtype:type"
_SENDV = "sendbuf:in sendcounts:counts sdispls:displs sendtype:type"
_RECVV = "recvbuf:out recvcounts:counts rdispls:displs recvtype:type"
_SENDW = "sendbuf:in sendcounts:counts sdispls:displs sendtypes:types"
_RECVW = "recvbuf:out recvcounts:counts rdispls:displs recvtypes:types"
_REDUCE = "sendbuf:in recvbuf:out count:count datatype:type op:op"

# Operation -> its parameters in MPI's order.
OPERATIONS = {
    "Barrier": "comm:comm",
    "Bcast": "buffer:out count:count datatype:type root:root comm:comm",
    "Gather": f"{_SEND} {_RECV} root:root comm:comm",
    "Gatherv": f"{_SEND} {_RECVV} root:root comm:comm",
    "Scatter": f"{_SEND} {_RECV} root:root comm:comm",
    "Scatterv": f"{_SENDV} {_RECV} root:root comm:comm",
    "Allgather": f"{_SEND} {_RECV} comm:comm",
    "Allgatherv": f"{_SEND} {_RECVV} comm:comm",
    "Alltoall": f"{_SEND} {_RECV} comm:comm",
    "Alltoallv": f"{_SENDV} {_RECVV} comm:comm",
    "Alltoallw": f"{_SENDW} {_RECVW} comm:comm",
    "Reduce": f"{_REDUCE} root:root comm:comm",
    "Allreduce": f"{_REDUCE} comm:comm",
    "Reduce_scatter": "sendbuf:in recvbuf:out recvcounts:counts datatype:type op:op comm:comm",
    "Reduce_scatter_block": "sendbuf:in recvbuf:out recvcount:count datatype:type op:op comm:comm",
    "Scan": f"{_REDUCE} comm:comm",
    "Exscan": f"{_REDUCE} comm:comm",
    "Neighbor_allgather": f"{_SEND} {_RECV} comm:comm",
    "Neighbor_allgatherv": f"{_SEND} {_RECVV} comm:comm",
    "Neighbor_alltoall": f"{_SEND} {_RECV} comm:comm",
    "Neighbor_alltoallv": f"{_SENDV} {_RECVV} comm:comm",
    "Neighbor_alltoallw": (f"{_SENDW} {_RECVW} comm:comm").replace(":displs", ":addresses"),
}

# Ranks do not know the sizes of each other's parts.
OF_ANY_SIZE = ("Gatherv", "Scatterv", "Alltoallv", "Alltoallw")
# No rank can leave such a call before all have come.
NEEDS_ALL = (
    "Barrier",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Allreduce",
    "Reduce_scatter",
    "Reduce_scatter_block",
)
# A plan between nodes has a part of each rank for each other one.
PLANS_ALL_PAIRS = (
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce_scatter",
    "Reduce_scatter_block",
)
# Corymb's collectives -> the operation that says their names to people, in the order of
# corymb_collective.
COLLECTIVES = {
    "barrier": "Barrier",
    "broadcast": "Bcast",
    "reduce": "Reduce",
    "allreduce": "Allreduce",
    "gather": "Gather",
    "scatter": "Scatter",
    "allgather": "Allgather",
    "alltoall": "Alltoall",
    "reduce_scatter": "Reduce_scatter",
    "scan": "Scan",
    "exscan": "Exscan",
}

# All but these have a translation in calls.hpp; these are passed on, with what they receive.
PASSED_ON = [name for name in OPERATIONS if name.startswith("Neighbor_")]
RECEIVED = ("recvcount", "recvcounts", "recvtype", "recvtypes")

_TO = "buf:in count:count datatype:type dest:int tag:int comm:comm"
_FROM = "source:int tag:int comm:comm"

# Functions that wait for a message, the function that does the same without waiting, parameters.
# Where requests of corymb's are under way that a wait of the MPI's would hold up, looks.hpp waits.
WAITS = {
    "Send": ("Isend", _TO),
    "Ssend": ("Issend", _TO),
    "Rsend": ("Irsend", _TO),
    "Recv": ("Irecv", f"buf:out count:count datatype:type {_FROM} status:status"),
    "Mrecv": ("Imrecv", "buf:out count:count type:type message:message status:status"),
    "Probe": ("Iprobe", f"{_FROM} status:status"),
    "Mprobe": ("Improbe", f"{_FROM} message:message status:status"),
}
# MPI_Isendrecv of MPICH 5.0 and Intel MPI loses statuses and errors: a send and a receive.
SENDRECV = (
    "sendbuf:in sendcount:count sendtype:type dest:int sendtag:int recvbuf:out "
    "recvcount:count recvtype:type source:int recvtag:int comm:comm status:status"
)
# Those that look for one.
LOOKS = {
    "Iprobe": f"{_FROM} flag:flag status:status",
    "Improbe": f"{_FROM} flag:flag message:message status:status",
}

# Functions that open what peers may need this rank for (open_work.hpp), and the counter.
_ALLOCATED = "size:size unit:unit info:info comm:comm base:out window:window"
OPENS = {
    name: ("open_messages", f"{words} request:request")
    for name, words in {
        "Ibsend": _TO,
        "Irecv": f"buf:out count:count datatype:type {_FROM}",
        "Irsend": _TO,
        "Isend": _TO,
        "Issend": _TO,
        "Imrecv": "buf:out count:count datatype:type message:message",
    }.items()
} | {
    "Win_allocate": ("open_windows", _ALLOCATED),
    "Win_allocate_shared": ("open_windows", _ALLOCATED),
    "Win_create": (
        "open_windows",
        "base:out size:size unit:unit info:info comm:comm window:window",
    ),
    "Win_create_dynamic": ("open_windows", "info:info comm:comm window:window"),
}
CLOSES = {"Win_free": ("open_windows", "window:window")}

# What the adapter itself calls below, beside the collectives.
OWN = [
    "Allgather",
    "Allreduce",
    "Cancel",
    "Cartdim_get",
    "Comm_call_errhandler",
    "Comm_create_keyval",
    "Comm_disconnect",
    "Comm_free",
    "Comm_get_attr",
    "Comm_get_name",
    "Comm_group",
    "Comm_rank",
    "Comm_set_attr",
    "Comm_set_errhandler",
    "Comm_size",
    "Comm_split",
    "Comm_test_inter",
    "Dist_graph_neighbors_count",
    "Error_class",
    "Error_string",
    "Finalize",
    "Finalized",
    "Get_address",
    "Get_count",
    "Get_library_version",
    "Get_processor_name",
    "Graph_neighbors_count",
    "Grequest_complete",
    "Grequest_start",
    "Group_compare",
    "Group_free",
    "Group_translate_ranks",
    "Init",
    "Init_thread",
    "Initialized",
    "Irecv",
    "Isend",
    "Op_commutative",
    "Op_free",
    "Pack",
    "Query_thread",
    "Reduce_local",
    "Request_free",
    "Request_get_status",
    "Start",
    "Startall",
    "Test",
    "Testall",
    "Testany",
    "Testsome",
    "Topo_test",
    "Type_commit",
    "Type_create_hindexed",
    "Type_free",
    "Type_get_contents",
    "Type_get_envelope",
    "Type_get_extent",
    "Type_get_true_extent",
    "Type_size",
    "Type_size_x",
    "Unpack",
    "Wait",
    "Waitall",
    "Waitany",
    "Waitsome",
    "Win_test",
]
# From MPI 4 on, where there are persistent collectives, too.
OWN_4 = ["Session_finalize", "Session_init"]
# From MPI 4.1 on.
OWN_4_1 = ["Request_get_status_all", "Request_get_status_any", "Request_get_status_some"]


@dataclass(frozen=True)
class Entry:
    operation: str
    form: str  # "blocking", "nonblocking", "persistent"
    wide: bool

    @property
    def name(self) -> str:
        name = f"I{self.operation.lower()}" if self.form == "nonblocking" else self.operation
        return name + ("_init" if self.form == "persistent" else "") + ("_c" if self.wide else "")

    @property
    def parameters(self) -> list[tuple[str, str]]:
        words = OPERATIONS[self.operation].split()
        if self.form == "persistent":
            words.append("info:info")
        if self.form != "blocking":
            words.append("request:request")
        return [(name, kind) for name, kind in (word.split(":") for word in words)]

    @property
    def guard(self) -> str:
        """Open MPI has persistent collectives from 5 on, but no large counts before 6."""
        if self.wide:
            return "CORYMB_MPI_HAS_MPI_4"
        return "CORYMB_MPI_HAS_PERSISTENT" if self.form == "persistent" else ""


def entries() -> list[Entry]:
    return [
        Entry(operation, form, wide)
        for operation, parameters in OPERATIONS.items()
        for form in ("blocking", "nonblocking", "persistent")
        for wide in (False, True)
        if not wide or "count" in parameters
    ]


def definition(entry: Entry) -> str:
    types = [f"{KINDS[kind][entry.wide]} {name}" for name, kind in entry.parameters]
    names = ", ".join(name for name, _ in entry.parameters)
    enumerator = entry.operation.lower()
    request = "nullptr" if entry.form == "blocking" else "request"
    lines = [
        f"CORYMB_MPI_ENTRY int MPI_{entry.name}({', '.join(types)}) {{",
        f"    const auto function = corymb::mpi::host().{entry.name};",
        "    if (function == nullptr) {",
        f'        return corymb::mpi::missing_function("MPI_{entry.name}");',
        "    }",
        "    if (corymb::mpi::is_left_alone(comm)) {",
        f"        return function({names});",
        "    }",
        f"    auto below = [=] {{ return function({names}); }};",
        "    const corymb::mpi::Call call{corymb::mpi::Operation::"
        f"{enumerator}, corymb::mpi::Form::{entry.form}, corymb::mpi::MpiFunction(below), "
        f"{request}}};",
    ]
    if entry.operation in PASSED_ON:
        received = ", ".join(name for name, _ in entry.parameters if name in RECEIVED)
        lines.append(f"    return corymb::mpi::neighbours(call, {received}, comm);")
    else:
        own = [name for name, kind in entry.parameters if kind not in ("info", "request")]
        lines.append(f"    return corymb::mpi::{enumerator}(call, {', '.join(own)});")
    lines.append("}")
    return "\n".join(lines)


def typed(words: str, wide: bool) -> tuple[str, list[str]]:
    """The parameters as C has them, and their names."""
    pairs = [word.split(":") for word in words.split()]
    return ", ".join(f"{KINDS[kind][wide]} {name}" for name, kind in pairs), [
        name for name, _ in pairs
    ]


def wait(name: str, wide: bool) -> str:
    """A function of WAITS."""
    below, words = WAITS[name]
    end = "_c" if wide else ""
    types, names = typed(words, wide)
    given = ", ".join(names)
    # What nobody sends is there at once; MPICH 4.0 says nothing of it in the status of a request.
    nobody = " || source == MPI_PROC_NULL" if name == "Recv" else ""
    lines = [
        f"CORYMB_MPI_ENTRY int MPI_{name}{end}({types}) {{",
        "    const corymb::mpi::Host& mpi = corymb::mpi::host();",
        f"    if (!corymb::mpi::must_poll() || mpi.{below}{end} == nullptr{nobody}) [[likely]] {{",
        f"        return mpi.{name}{end} != nullptr ? mpi.{name}{end}({given})",
        f'            : corymb::mpi::missing_function("MPI_{name}{end}");',
        "    }",
    ]
    if name.lower().endswith("probe"):
        flagged = given.replace("comm,", "comm, &flag,")
        lines.append(
            "    return corymb::mpi::wait_by_polling([&](int& flag) { "
            f"return mpi.{below}({flagged}); }});"
        )
    else:
        status = "status" if "status" in names else "MPI_STATUS_IGNORE"
        asked = ", ".join(one for one in names if one != "status")
        lines += [
            "    MPI_Request request{};",
            f"    const int result = mpi.{below}{end}({asked}, &request);",
            "    return result != MPI_SUCCESS ? result",
            f"        : corymb::mpi::wait_below(request, {status});",
        ]
    return "\n".join([*lines, "}"])


def sendrecv(wide: bool) -> str:
    end = "_c" if wide else ""
    types, names = typed(SENDRECV, wide)
    send = "sendbuf, sendcount, sendtype, dest, sendtag, comm"
    receive = "recvbuf, recvcount, recvtype, source, recvtag, comm"
    return "\n".join(
        [
            f"CORYMB_MPI_ENTRY int MPI_Sendrecv{end}({types}) {{",
            "    const corymb::mpi::Host& mpi = corymb::mpi::host();",
            "    if (!corymb::mpi::must_poll()) [[likely]] {",
            f"        return mpi.Sendrecv{end} != nullptr ? mpi.Sendrecv{end}({', '.join(names)})",
            f'            : corymb::mpi::missing_function("MPI_Sendrecv{end}");',
            "    }",
            "    if (source == MPI_PROC_NULL) { // As in MPI_Recv.",
            f"        const int result = mpi.Recv{end}({receive}, status);",
            f"        return result != MPI_SUCCESS ? result : MPI_Send{end}({send});",
            "    }",
            "    return corymb::mpi::exchange_by_polling(",
            f"        [&](MPI_Request* request) {{ return mpi.Irecv{end}({receive}, request); }},",
            f"        [&](MPI_Request* request) {{ return mpi.Isend{end}({send}, request); }},",
            "        status);",
            "}",
        ]
    )


def look(name: str) -> str:
    """A function of LOOKS."""
    types, names = typed(LOOKS[name], False)
    return "\n".join(
        [
            f"CORYMB_MPI_ENTRY int MPI_{name}({types}) {{",
            "    corymb::mpi::go_on_before_poll();",
            f"    return corymb::mpi::host().{name}({', '.join(names)});",
            "}",
        ]
    )


def waits() -> list[str]:
    """Open MPI has a hook."""
    narrow = [wait(name, False) for name in WAITS] + [look(name) for name in LOOKS]
    wide = [wait(name, True) for name, (_, words) in WAITS.items() if "count" in words]
    narrow.append(sendrecv(False))
    wide.append(sendrecv(True))
    return [
        guarded("\n\n".join(narrow), "!defined(OPEN_MPI)"),
        guarded("\n\n".join(wide), "CORYMB_MPI_HAS_MPI_4"),
    ]


def opens(name: str, wide: bool) -> str:
    """A function of OPENS or CLOSES."""
    counter, words = (OPENS | CLOSES)[name]
    end = "_c" if wide else ""
    types, names = typed(words, wide)
    given = f"function({', '.join(names)})"
    lines = [
        f"CORYMB_MPI_ENTRY int MPI_{name}{end}({types}) {{",
        f"    const auto function = corymb::mpi::host().{name}{end};",
        "    if (function == nullptr) {",
        f'        return corymb::mpi::missing_function("MPI_{name}{end}");',
        "    }",
    ]
    if name in OPENS:
        lines.append(f"    return corymb::mpi::opened({given}, corymb::mpi::{counter});")
    else:
        lines += [
            f"    const int result = {given};",
            "    if (result == MPI_SUCCESS) {",
            f"        corymb::mpi::closed(corymb::mpi::{counter});",
            "    }",
            "    return result;",
        ]
    return "\n".join([*lines, "}"])


def wide_opens() -> list[str]:
    return [name for name, (_, words) in OPENS.items() if ":count" in words or ":unit" in words]


def wait_names() -> tuple[list[str], list[str]]:
    """What they call below, without and with large counts."""
    narrow = ["Sendrecv", *WAITS, *(below for below, _ in WAITS.values())]
    wide = [
        f"{one}_c"
        for name, (below, words) in WAITS.items()
        if "count" in words
        for one in (name, below)
    ]
    return sorted(set(narrow) - set(OWN) - set(OPENS)), ["Sendrecv_c", *wide]


# Of datatypes that were made with large counts, or are that large, the others know nothing.
OWN_WIDE = ["Pack_c", "Type_get_contents_c", "Type_get_envelope_c", "Unpack_c"]


def guarded(text: str, guard: str) -> str:
    return f"#if {guard}\n{text}\n#endif" if guard else text


def source() -> str:
    head = [
        "// Made by entry_points.py; do not edit.",
        '#include "below/host.hpp"',
        '#include "below/open_work.hpp"',
        '#include "communicator/communicator.hpp"',
        '#include "entry/calls.hpp"',
        '#include "requests/polling.hpp"',
        "",
        '#define CORYMB_MPI_ENTRY extern "C" __attribute__((visibility("default")))',
        "",
    ]
    own = [guarded(definition(e), e.guard) + "\n" for e in entries()]
    own += [opens(name, False) + "\n" for name in (*OPENS, *CLOSES)]
    own += [guarded(opens(name, True), "CORYMB_MPI_HAS_MPI_4") + "\n" for name in wide_opens()]
    return "\n".join([*head, *own, *waits(), ""])


def name_list(macro: str, names: list[str]) -> str:
    return " \\\n".join([f"#define {macro}(X)", *(f"    X({name})" for name in names)])


def functions() -> str:
    every = entries()
    narrow_waits, wide_waits = wait_names()
    opened = sorted({*OPENS, *CLOSES} - set(OWN))
    wide_opened = [f"{name}_c" for name in wide_opens() if f"{name}_c" not in wide_waits]
    old = [entry.name for entry in every if not entry.guard]
    wide = [entry.name for entry in every if entry.wide]
    persistent = OWN_4 + [entry.name for entry in every if entry.guard and not entry.wide]
    return "\n".join(
        [
            "// Made by entry_points.py; do not edit.",
            "#if MPI_VERSION >= 4 && !defined(OPEN_MPI)",
            "#define CORYMB_MPI_HAS_MPI_4 1",
            name_list("CORYMB_PMPI_WIDE", wide + wide_waits + wide_opened + OWN_WIDE),
            "#else",
            "#define CORYMB_MPI_HAS_MPI_4 0",
            "#define CORYMB_PMPI_WIDE(X)",
            "#endif",
            "#if CORYMB_MPI_HAS_MPI_4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)",
            "#define CORYMB_MPI_HAS_PERSISTENT 1",
            name_list("CORYMB_PMPI_PERSISTENT", persistent),
            "#else",
            "#define CORYMB_MPI_HAS_PERSISTENT 0",
            "#define CORYMB_PMPI_PERSISTENT(X)",
            "#endif",
            "#if !defined(OPEN_MPI) && 10 * MPI_VERSION + MPI_SUBVERSION > 40",
            "#define CORYMB_MPI_HAS_GET_STATUS_ALL 1",
            name_list("CORYMB_PMPI_4_1", OWN_4_1),
            "#else",
            "#define CORYMB_MPI_HAS_GET_STATUS_ALL 0",
            "#define CORYMB_PMPI_4_1(X)",
            "#endif",
            "#if !defined(OPEN_MPI)",
            name_list("CORYMB_PMPI_WAITS", narrow_waits),
            "#else",
            "#define CORYMB_PMPI_WAITS(X)",
            "#endif",
            name_list("CORYMB_PMPI_OWN", OWN),
            name_list("CORYMB_PMPI_OPENS", opened),
            name_list("CORYMB_PMPI_OLD", sorted(set(old) - set(OWN))),
            "#define CORYMB_PMPI_FUNCTIONS(X) \\",
            "    CORYMB_PMPI_OWN(X) CORYMB_PMPI_OPENS(X) CORYMB_PMPI_OLD(X) CORYMB_PMPI_WIDE(X) \\",
            "    CORYMB_PMPI_PERSISTENT(X) CORYMB_PMPI_4_1(X) CORYMB_PMPI_WAITS(X)",
            "",
        ]
    )


def operations() -> str:
    def row(name: str) -> str:
        flags = (OF_ANY_SIZE, NEEDS_ALL, PLANS_ALL_PAIRS)
        return f'    {{"{name}", {", ".join(str(name in one).lower() for one in flags)}}},'

    translated = [name for name in OPERATIONS if name not in PASSED_ON]
    assert [*translated, *PASSED_ON] == list(OPERATIONS)
    return "\n".join(
        [
            "// Made by entry_points.py; do not edit.",
            "#pragma once",
            "",
            "#include <cstddef>",
            "#include <cstdint>",
            "",
            "namespace corymb::mpi {",
            "",
            "/// MPI's collectives. Those with a translation come first.",
            "enum class Operation : std::uint8_t {",
            *(f"    {name.lower()}," for name in OPERATIONS),
            "};",
            f"inline constexpr std::size_t translated_operations = {len(translated)};",
            "",
            "struct OperationTraits {",
            "    const char* name; ///< Behind MPI_.",
            "    /// Ranks do not know the sizes of each other's parts.",
            "    bool is_of_any_size;",
            "    /// No rank can leave such a call before all have come.",
            "    bool needs_all;",
            "    /// A plan between nodes has a part of each rank for each other one.",
            "    bool plans_all_pairs;",
            "};",
            "inline constexpr OperationTraits operation_traits[] = {",
            *(row(name) for name in OPERATIONS),
            "};",
            "[[nodiscard]] constexpr const OperationTraits& traits_of(",
            "    Operation operation) noexcept {",
            "    return operation_traits[static_cast<std::size_t>(operation)];",
            "}",
            "",
            "/// The operation whose name stands for a plan of corymb's, by corymb_collective.",
            "inline constexpr Operation operation_of_collective[] = {",
            *(f"    Operation::{name.lower()}," for name in COLLECTIVES.values()),
            "};",
            "",
            "} // namespace corymb::mpi",
            "",
        ]
    )


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: entry_points.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entry_points.cpp").write_text(source(), encoding="utf-8")
    (folder / "pmpi_functions.inc").write_text(functions(), encoding="utf-8")
    (folder / "operations.hpp").write_text(operations(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

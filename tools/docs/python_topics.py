# SPDX-License-Identifier: Apache-2.0
"""The names of the Python package by topic, for its reference. All of `corymb.__all__` stand here:
missing() says which do not."""

# file -> (title, module, names)
TOPICS = {
    "team": ("Teams", "corymb", [
        "run", "attach", "Team", "Request", "StopSource", "ChosenPlan", "TeamStatistics",
        "make_team_descriptor",
    ]),
    "errors": ("Errors", "corymb", [
        "Error", "RankError", "InvalidArgumentError", "UnknownNameError", "InvalidModelError",
        "StaleModelError", "InvalidPlanError", "FileError", "UnsupportedError", "TimeoutError",
        "TeamBrokenError", "InterruptError", "MismatchError", "DeadlockError", "InternalError",
    ]),
    "types": ("Types and operators", "corymb", [
        "Datatype", "Op", "Operator", "BYTE", "BOOL", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE",
        "COMPLEX", "DOUBLE_COMPLEX", "INT8_T", "INT16_T", "INT32_T", "INT64_T", "UINT8_T",
        "UINT16_T", "UINT32_T", "UINT64_T", "FLOAT16", "BFLOAT16", "INT_INT", "SHORT_INT",
        "LONG_INT", "FLOAT_INT", "DOUBLE_INT", "SUM", "PROD", "MIN", "MAX", "LAND", "LOR", "LXOR",
        "BAND", "BOR", "BXOR", "MINLOC", "MAXLOC", "IN_PLACE", "UNDEFINED",
    ]),
    "machine": ("Machines", "corymb", [
        "Machine", "gallery_names", "measure", "spot_check", "cached_machine", "cached_model_path",
        "discover_topology", "topology_from_xml", "topology_from_synthetic",
        "export_hwloc_distances", "probe_permissions", "usable_cpus", "version",
    ]),
    "plan": ("Plans", "corymb", [
        "OPERATIONS", "make_plan", "algorithm_names", "PlanChoice", "Plan", "simulate", "Timeline",
        "traffic", "run_plan", "counter_barrier", "CounterBarrier",
    ]),
    "nodes": ("Several nodes", "corymb", [
        "Cluster", "make_cluster_plan", "scheme_names", "simulate_cluster", "node_traffic",
        "networks_from",
    ]),
    "noise": ("Noise", "corymb", [
        "record_noise", "NoiseTrace", "cached_noise_path", "Noise", "Phases", "noisy_makespans",
    ]),
    "mailboxes": ("Mailboxes and broadcast rings", "corymb", [
        "MailboxGroup", "Mailbox", "choose_mailbox", "MailboxChoice", "simulate_mailbox",
        "MailboxTimes", "BroadcastRing", "BroadcastPublisher", "BroadcastReader",
        "BroadcastReaderInfo",
    ]),
    "multicast": ("Acknowledged multicast", "corymb", [
        "MulticastGroup", "Multicast", "MulticastToken", "MulticastLate", "MulticastUnderWay",
        "choose_multicast", "MulticastChoice", "simulate_multicast", "MulticastTimes",
    ]),
    "remote": ("Remote calls", "corymb.remote", [
        "RemoteGroup", "RemoteRank", "RemoteCall", "RemoteMethod", "Proxy", "ProxyGroup",
        "SharedArray", "here",
    ]),
    "trace": ("Groups of other processes", "corymb", [
        "trace_process", "TracedGroup", "TracedMember",
    ]),
}  # fmt: skip


def missing(public: list[str]) -> set[str]:
    """Names of the package that no topic has."""
    return set(public) - {name for _, _, names in TOPICS.values() for name in names}


def directive(name: str) -> list[str]:
    """Lines of reStructuredText that document the name."""
    if name.isupper():
        return [f".. py:data:: {name}", ""]
    kind = "autoclass" if name[0].isupper() else "autofunction"
    # The methods of a team come from the compiled class below it.
    options = ["   :inherited-members:"] if name in ("Team", "RemoteRank", "RemoteGroup") else []
    return [f".. {kind}:: {name}", *options, ""]

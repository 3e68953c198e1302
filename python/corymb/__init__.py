# SPDX-License-Identifier: Apache-2.0
"""corymb: measure how the cores of a machine talk, plan group communication from it, run the plan.

    >>> import corymb
    >>> machine = corymb.Machine.gallery("smelt-e5v2-2x10")
    >>> choice = corymb.make_plan(machine, "broadcast", root=0)
    >>> choice.plan.check()
    >>> corymb.simulate(choice.plan, machine).makespan <= choice.predicted + 1e-6
    True

See docs/python.md. The command `corymb` is the same functions for people.
"""

from corymb._core import (
    Machine,
    Plan,
    PlanChoice,
    Timeline,
    algorithm_names,
    cached_machine,
    cached_model_path,
    discover_topology,
    export_hwloc_distances,
    gallery_names,
    make_plan,
    measure,
    probe_permissions,
    run_plan,
    simulate,
    spot_check,
    topology_from_synthetic,
    topology_from_xml,
    traffic,
    usable_cpus,
    version,
)
from corymb.errors import Error

__version__ = version()

OPERATIONS = (
    "barrier",
    "broadcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "scan",
    "exscan",
)

__all__ = [
    "OPERATIONS",
    "Error",
    "Machine",
    "Plan",
    "PlanChoice",
    "Timeline",
    "algorithm_names",
    "cached_machine",
    "cached_model_path",
    "discover_topology",
    "export_hwloc_distances",
    "gallery_names",
    "make_plan",
    "measure",
    "probe_permissions",
    "run_plan",
    "simulate",
    "spot_check",
    "topology_from_synthetic",
    "topology_from_xml",
    "traffic",
    "usable_cpus",
    "version",
]

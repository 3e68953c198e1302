# SPDX-License-Identifier: Apache-2.0
"""CPUs that hand messages to each other quickly, as a list for `taskset -c` or `corymb run --bind`.

    python examples/near_cpus.py COUNT [MACHINE]

MACHINE is a name of `corymb.gallery_names()`; without one it is this machine, measured.
"""

import sys

import numpy as np

import corymb

count = int(sys.argv[1]) if len(sys.argv) > 1 else 2
if len(sys.argv) > 2:
    machine = corymb.Machine.gallery(sys.argv[2])
else:
    machine = corymb.cached_machine()[0] or corymb.measure(budget_s=5)

costs = machine.send_costs() + machine.receive_costs()
np.fill_diagonal(costs, 0)
groups = []
for first in range(len(machine)):
    group = [first]
    while len(group) < min(count, len(machine)):
        farther = costs[group].sum(axis=0)
        farther[group] = np.inf
        group.append(int(farther.argmin()))
    groups.append((costs[np.ix_(group, group)].sum(), sorted(group)))
print(",".join(str(machine.cpus[cpu]) for cpu in min(groups)[1]))

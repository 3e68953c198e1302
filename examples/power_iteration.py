# SPDX-License-Identifier: Apache-2.0
"""The largest eigenvalue of a matrix whose rows are dealt out to processes.

python examples/power_iteration.py [PROCESSES]
"""

import sys

import numpy as np

import corymb

SIZE = 1200


def largest_eigenvalue(team, size):
    rows = np.arange(size).reshape(team.size, -1)[team.rank]  # This process has these rows.
    own = 1.0 / (1 + abs(rows[:, None] - np.arange(size)))
    vector, value, before = np.ones(size), 1.0, 0.0
    steps = 0
    while abs(value - before) > 1e-9 * value:
        team.Allgather(own @ vector, vector)  # Everybody gets all parts of the product.
        value, before = float(np.linalg.norm(vector)), value
        vector /= value
        steps += 1
    return value, steps


if __name__ == "__main__":
    processes = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    results = corymb.run(largest_eigenvalue, processes, args=(SIZE,))
    value, steps = results[0]
    print(f"{processes} processes, {steps} steps: the largest eigenvalue is {value:.6f}")

# SPDX-License-Identifier: Apache-2.0
"""C++ comments: each begins with the thing that it is about, not with a reference to a line
before it."""

import re
from collections.abc import Iterator

from tree import Finding, Source, Tree

OWN_PATH = "tests/tidy/comments.py"
BEGINNINGS = ("The same", "Of")

# Files that still break the rule. The list may only shrink.
NOT_YET = frozenset(
    {
        "bench/cluster/plan_ranks.cpp",
        "bench/mpi/corymb_calls.hpp",
        "bench/mpi/payload.h",
        "bench/mpi/session.h",
        "bench/threads/case.hpp",
        "bench/threads/peers/central.hpp",
        "bench/threads/predict/plans.cpp",
        "bench/threads/worker/workload.hpp",
        "bench/waiting/board.hpp",
        "bench/waiting/cell.hpp",
        "python/module/bind_multicast.cpp",
        "python/module/operand.hpp",
        "python/module/operations.hpp",
        "src/machine/discover/fingerprint.hpp",
        "src/machine/discover/gaps.hpp",
        "src/machine/discover/line_probe.cpp",
        "src/machine/discover/measure.cpp",
        "src/machine/discover/pair_probe.hpp",
        "src/machine/discover/pair_table.hpp",
        "src/machine/discover/stream_probe.cpp",
        "src/machine/discover/survey.hpp",
        "src/machine/discover/survey_all_pairs.cpp",
        "src/machine/discover/topology.cpp",
        "src/machine/discover/topology_reader.hpp",
        "src/machine/discover/transfers.hpp",
        "src/machine/model/nearness.cpp",
        "src/machine/model/nearness.hpp",
        "src/machine/model/value_cuts.cpp",
        "tests/model/explorer_test.cpp",
        "tests/unit/channel/patience_test.cpp",
        "tests/unit/channel/wait_ladder_test.cpp",
        "tests/unit/cluster/choice_test.cpp",
        "tests/unit/cluster/near_test.cpp",
        "tests/unit/cluster_team/affine.hpp",
        "tests/unit/cluster_team/node_part_test.cpp",
        "tests/unit/cluster_team/rehearsal_test.cpp",
        "tests/unit/discover/topology_test.cpp",
        "tests/unit/handles/table.hpp",
        "tests/unit/plan_core/block_map_test.cpp",
        "tests/unit/plan_core/random_execution.hpp",
        "tests/unit/process/children.hpp",
        "tests/unit/process/multicast_storm_test.cpp",
        "tests/unit/process/operations_test.cpp",
        "tests/unit/team/order_test.cpp",
        "tests/unit/tune/make_plan_test.cpp",
        "verify/explorer/env.hpp",
        "verify/explorer/explorer.hpp",
        "verify/explorer/memory.hpp",
        "verify/explorer/operation.hpp",
        "verify/worlds/multicast_death_world.cpp",
    }
)


def _beginnings(source: Source) -> Iterator[tuple[int, str]]:
    """(line, text) of the first line of each comment; an empty comment line ends one."""
    before = None  # column and slashes of a comment that the next line may continue
    for number, line in enumerate(source.comment_lines, 1):
        match = re.search(r"(//[/!]?<?) ?(.*)", line)
        if not match or not match[2].strip():
            before = None
            continue
        is_alone = not source.code_lines[number - 1].strip()
        place = (match.start(), match[1])
        if not (is_alone and place == before):
            yield number, match[2].strip()
        before = place


def _breaks(source: Source) -> Iterator[tuple[int, str]]:
    for number, text in _beginnings(source):
        for beginning in BEGINNINGS:
            if re.match(rf"{beginning}\b", text):
                yield number, beginning


def check_comments(tree: Tree) -> Iterator[Finding]:
    for source in tree.cpp():
        if source.path in NOT_YET:
            continue
        for number, beginning in _breaks(source):
            text = f"begins with `{beginning}`: name the thing that it is about"
            yield Finding(source.path, number, "comment", text)


def check_comment_list(tree: Tree) -> Iterator[Finding]:
    """A listed file that keeps the rule, or is gone, leaves the list."""
    if OWN_PATH not in tree.sources:
        return
    for path in sorted(NOT_YET):
        source = tree.sources.get(path)
        if source is None or not any(_breaks(source)):
            text = f"{path} keeps the rule: take it off NOT_YET"
            yield Finding(OWN_PATH, 1, "comment-list", text)

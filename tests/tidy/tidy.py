#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the house: prints what breaks a rule, and fails if anything does.

`tests/tidy/tidy.py [folder]`; needs Python's standard library only. A rule is a function from a
Tree to Findings; each has bad examples in test_tidy.py that it must catch.
"""

import sys
from pathlib import Path

import banned
import comments
import documents
import figures
import headers
import layers
import lock_free
import prose
import references
import sizes
import versions
from tree import Finding, Tree

PRINTED_MAX = 100
RULES = (
    layers.check_layers,
    layers.check_system_headers,
    headers.check_standard_headers,
    layers.check_umbrellas,
    sizes.check_file_size,
    sizes.check_function_size,
    sizes.check_line_length,
    sizes.check_blobs,
    banned.check_banned_words,
    banned.check_default_orders,
    banned.check_limits_of_tests,
    banned.check_tuned_numbers,
    banned.check_strongest_orders,
    banned.check_leftovers,
    banned.check_slow_headers,
    banned.check_first_lines,
    banned.check_executable_bit,
    comments.check_comments,
    comments.check_comment_list,
    lock_free.check_headers,
    lock_free.check_tags,
    lock_free.check_pairs,
    documents.check_titles,
    documents.check_links,
    documents.check_reachable,
    documents.check_code_blocks,
    documents.check_foreign_words,
    documents.check_purposes,
    documents.check_folder_indexes,
    references.check_header_tables,
    references.check_variables,
    prose.check_prose,
    figures.check_figures,
    versions.check_version,
    versions.check_formats,
)


def findings(tree: Tree) -> list[Finding]:
    """Every broken rule of the tree, sorted by place."""
    found = [finding for rule in RULES for finding in rule(tree)]
    return sorted(found, key=lambda finding: (finding.path, finding.line, finding.rule))


def main(arguments: list[str]) -> int:
    default = Path(__file__).resolve().parents[2]
    root = Path(arguments[0]) if arguments else default
    tree = Tree.read(root)
    found = findings(tree)
    for finding in found[:PRINTED_MAX]:
        print(finding)
    if len(found) > PRINTED_MAX:
        print(f"... and {len(found) - PRINTED_MAX} more")
    print(f"tidy: {len(tree.sources)} files, {len(RULES)} rules, {len(found)} findings")
    return 1 if found or not tree.sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

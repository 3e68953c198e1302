#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over what runs in a team
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need clang++-19 clang-tidy-19 run-clang-tidy-19
[ -f build/asan-ubsan/compile_commands.json ] || build_preset asan-ubsan
# The rest of src/ would take twice the time: run-clang-tidy-19 -p build/asan-ubsan src/
run-clang-tidy-19 -clang-tidy-binary clang-tidy-19 -p build/asan-ubsan -quiet -j "$(nproc)" \
    "/(src|together)/(base|channel|team)[/_]"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang++ 19, warnings are errors, unit tests under ASan and UBSan
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need clang++-19
build_preset asan-ubsan unit_tests concurrent_tests
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
# The largest machines of the gallery take the same paths as the others, ten times as long.
run_ctest asan-ubsan --label-regex '^(unit|concurrent)$' \
    --exclude-regex 'KnownBroadcast.*_(128t|192c|192t|256t|512t)|Scale.FourThousandRanks'

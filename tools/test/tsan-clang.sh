#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ThreadSanitizer (clang) on the concurrent tests
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need clang++-19
build_preset tsan-clang concurrent_tests
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
run_ctest tsan-clang --label-regex '^concurrent$'

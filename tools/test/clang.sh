#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang++ 19, warnings are errors, unit tests
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need clang++-19
build_preset clang
run_ctest clang --label-regex '^(unit|concurrent)$'

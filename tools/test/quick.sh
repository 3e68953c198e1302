#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# g++, the unit tests without those that take long: storms, random runs, the largest machines
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev unit_tests concurrent_tests
run_ctest dev --label-regex '^(unit|concurrent)$' \
    --exclude-regex 'Storm|Stress|Random|Scale|KnownBroadcast|^Peers'

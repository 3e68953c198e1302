#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# the long forms of the tests: 1,000 killed processes, 10,000 rounds, counts beyond 2^31
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev
export CORYMB_LONG_TESTS=1 CORYMB_STRESS=${CORYMB_STRESS:-10}
run_ctest dev --label-regex '^(unit|concurrent)$'

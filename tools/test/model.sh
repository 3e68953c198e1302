#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# the explorer runs the lock-free headers through every interleaving
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev
run_ctest dev --label-regex '^model$'

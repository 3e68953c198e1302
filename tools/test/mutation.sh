#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# each memory order, weakened in turn, is caught by a model test
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev
run_ctest dev --label-regex '^mutation$'

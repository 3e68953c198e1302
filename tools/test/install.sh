#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# the installed library: find_package, pkg-config, exported symbols
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev
run_ctest dev --label-regex '^install$'

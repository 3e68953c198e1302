#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# g++, warnings are errors, unit tests and examples
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev
run_ctest dev --label-exclude '^(model|mutation|loom|histories|install|tidy|fuzz)$'

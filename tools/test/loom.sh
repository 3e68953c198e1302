#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# loom, the second opinion on the worlds of two threads
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need cargo g++
minor=$(cargo --version | sed -n 's/^cargo [0-9]*\.\([0-9]*\)\..*/\1/p')
[ "${minor:-0}" -ge 74 ] || skip "$(cargo --version) is too old for loom"
verify/loom/run.sh "$build/loom" g++

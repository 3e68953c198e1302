#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# machines of other shapes in QEMU: topology, costs, permissions, cpusets, offline CPUs
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need qemu-system-x86_64
[ "$(uname -m)" = x86_64 ] || skip "the guests run programs of x86_64"
"$root/tools/install_python.sh" --as-dev
# A guest emulates each instruction.
run_pytest --timeout $((3600 * CORYMB_TEST_SLOWNESS)) tests/guests

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# all of `make test` in a fresh Debian 13, no stage skipped
source "$(dirname "${BASH_SOURCE[0]}")/root.sh"

make_root trixie make git
copy_tree
in_root env CORYMB_SKIP_NONE=1 make -C /corymb test

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layers, lock-free comments, sizes, words, pages of figures; and the rules themselves
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python=$(system_python) || fail "no Python 3.11 or later"
"$python" tests/tidy/test_tidy.py
"$python" tests/tidy/tidy.py
"$python" tools/results check

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Python sources pass ruff and are formatted
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ -x "$venv/bin/ruff" ] || skip "ruff is not installed in build/venv"
"$venv/bin/ruff" check .
"$venv/bin/ruff" format --check .

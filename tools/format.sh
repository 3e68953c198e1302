#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Rewrites all sources as .clang-format and the ruff settings in pyproject.toml say.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
have clang-format-19 || fail "no clang-format-19; run tools/setup.sh test"
git ls-files -z -- '*.hpp' '*.cpp' '*.h' '*.c' | xargs -0 -r clang-format-19 -i
if [ -x "$venv/bin/ruff" ]; then
    "$venv/bin/ruff" format --quiet .
    "$venv/bin/ruff" check --fix --quiet .
else
    note "Python files left alone: no ruff; run tools/setup.sh test"
fi
git diff --stat

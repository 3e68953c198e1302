#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# C++ sources are as clang-format writes them
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need clang-format-19
git ls-files -z -- '*.hpp' '*.cpp' '*.h' '*.c' |
    xargs -0 -r clang-format-19 --dry-run -Werror

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library with rules that can be switched off, in build/ablation, and finds what each
# number of src/*/tuning.hpp is worth (tools/ablation.py). Arguments go to that.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
have cmake || fail "no cmake; run tools/setup.sh"
use_ccache
step configure-ablation "configuring ablation" \
    cmake --preset release -B build/ablation -DCORYMB_ABLATION=ON -DCORYMB_EXAMPLES=OFF
step build-ablation "building ablation" \
    cmake --build build/ablation --target corymb-choices corymb-bench
trap - INT TERM
"$(system_python)" "$root/tools/ablation.py" --output "$root/docs/results/data/ablation.json" "$@"
exec "$(system_python)" "$root/tools/results"

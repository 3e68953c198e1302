#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset of CMakePresets.json in build/<preset>; more words are targets.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

preset=${1:-dev}
shift || true
prepare_build_folder
have cmake || fail "no cmake; run tools/setup.sh"
use_ccache
step "configure-$preset" "configuring $preset" cmake --preset "$preset"
step "build-$preset" "building $preset" cmake --build "build/$preset" ${1:+--target "$@"}

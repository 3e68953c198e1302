#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package with the library in it and installs both into build/venv. What it needs
# is there already (tools/setup.sh), so it uses no network. With --as-dev it compiles as the preset
# dev does, for the tests: most objects are then in the compiler cache.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
[ -x "$venv/bin/python" ] || fail "no build/venv; run tools/setup.sh"
use_ccache
settings=()
if [ "${1:-}" = --as-dev ]; then
    # A build folder of its own. When the compiler changes, CMake drops all settings of a folder,
    # and the package comes out without its module.
    settings=(--config-settings=build-dir=build/python-dev
        --config-settings=cmake.build-type=RelWithDebInfo
        --config-settings=cmake.define.CORYMB_TOGETHER=OFF
        --config-settings=cmake.define.CORYMB_WERROR=ON
        --config-settings=cmake.define.CMAKE_CXX_COMPILER=g++
        "--config-settings=cmake.define.CMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1")
fi
export PATH="$venv/bin:$PATH"
step pip-install "building and installing the Python package" \
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --no-deps \
    --no-build-isolation --no-index ${settings[@]+"${settings[@]}"} "$root"
step import-python "importing the installed package" \
    env -C / "$venv/bin/python" -c 'import corymb, corymb._core'

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python package with the library in it and installs both into build/venv. What it needs
# is there already (tools/setup.sh), so it uses no network.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
[ -x "$venv/bin/python" ] || fail "no build/venv; run tools/setup.sh"
use_ccache
export PATH="$venv/bin:$PATH"
step pip-install "building and installing the Python package" \
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --no-deps \
    --no-build-isolation --no-index "$root"

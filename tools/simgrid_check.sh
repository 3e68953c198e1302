#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds corymb's simulator of several nodes against SimGrid (Debian's libsimgrid-dev), with
# bench/simgrid/check.py; arguments go to it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
"$root/tools/setup.sh" build
"$venv/bin/python" -c 'import corymb' 2>/dev/null || "$root/tools/install_python.sh"
pkg-config --exists simgrid ||
    fail "SimGrid is not here; as root: apt-get install libsimgrid-dev"
step simgrid-replay "compiling bench/simgrid/replay.cpp" \
    g++ -std=c++20 -O2 "$root/bench/simgrid/replay.cpp" -o "$build/simgrid-replay" -lsimgrid
trap - INT TERM
exec "$venv/bin/python" "$root/bench/simgrid/check.py" --replay "$build/simgrid-replay" "$@"

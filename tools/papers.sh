#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Repeats the figures of the papers that corymb began with (bench/papers) and writes their pages in
# docs/results/seeds. `tools/papers.sh` does all studies, `tools/papers.sh smelt leaders` some.
# `tools/papers.sh render` only writes the pages from what was found before.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
if [ "${1:-}" = render ]; then
    exec "$(system_python)" "$root/bench/papers" render
fi
note "about 7 minutes on two quiet CPUs beside compiling"
"$root/tools/setup.sh" build
"$root/tools/install_python.sh"
# What is measured stands beside an MPI.
case " ${*:-here} " in
*" here "*) [ -e "$build/peers/peers.json" ] ||
    step peers "installing MPICH" python3 "$root/tools/make_peers.py" --only mpich ;;
esac
trap - INT TERM
# Measured ranks plan on a model of this machine, which is measured once.
export CORYMB_CACHE_DIR="$build/papers-cache"
export PATH="$venv/bin:$PATH"
"$venv/bin/corymb" map >"$log/papers-map.log"
"$venv/bin/python" "$root/bench/papers" measure "$@"
exec "$venv/bin/python" "$root/bench/papers" render

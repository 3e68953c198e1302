#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Repeats the figures of the papers that corymb began with (bench/papers) and writes their pages in
# docs/results/seeds. `tools/papers.sh` does all studies, `tools/papers.sh smelt leaders` some.
# `make results` only writes the pages from what was found before.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
note "about 7 minutes on two quiet CPUs beside compiling"
"$root/tools/setup.sh" build
"$root/tools/install_python.sh"
export CORYMB_CACHE_DIR="$build/papers-cache" PATH="$venv/bin:$PATH"
case " ${*:-here} " in
*" here "*)
    # What is measured stands beside an MPI, and its ranks plan on a model of this machine.
    [ -e "$build/peers/peers.json" ] ||
        step peers "installing MPICH" python3 "$root/tools/make_peers.py" --only mpich
    step papers-map "measuring this machine" "$venv/bin/python" -m corymb map
    ;;
esac
trap - INT TERM
"$venv/bin/python" "$root/bench/papers" "$@"
exec "$venv/bin/python" "$root/tools/results"

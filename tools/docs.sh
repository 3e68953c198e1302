#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the site of the documentation in build/docs from docs/, the public headers' comments and
# the Python package's docstrings. Warnings are errors.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
"$root/tools/setup.sh" docs
have doxygen || fail "no doxygen; install the package doxygen"
# The package that is installed is to have the docstrings of python/.
module=$("$venv/bin/python" -c 'from corymb import _core as m; print(m.__file__)' 2>/dev/null) ||
    module=
changed=$([ -z "$module" ] || find python -type f -newer "$module" -print -quit)
if [ -z "$module" ] || [ -n "$changed" ]; then
    "$root/tools/install_python.sh" --as-dev
fi
step docs-pages "reading pages, headers and docstrings" \
    "$venv/bin/python" tools/docs/pages.py
step docs-site "building the site" \
    "$venv/bin/python" -m sphinx -W --keep-going -q -j auto -c tools/docs -d build/docs-work/trees \
    -b html build/docs-work/pages build/docs
echo "build/docs/index.html"

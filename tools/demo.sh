#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds, and runs `corymb demo` on this machine.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
"$root/tools/setup.sh" build
"$root/tools/install_python.sh"
trap - INT TERM
exec "$venv/bin/corymb" demo "$@"

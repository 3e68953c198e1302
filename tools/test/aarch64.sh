#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cross build for aarch64, warnings are errors; the unit programs under qemu-user
source "$(dirname "${BASH_SOURCE[0]}")/root.sh"

make_root trixie make git cmake ninja-build pkgconf ccache python3 nlohmann-json3-dev \
    g++-aarch64-linux-gnu qemu-user
add_architecture arm64 libc6 libstdc++6 libhwloc-dev libfmt-dev libmd-dev libhwy-dev libgtest-dev \
    libboost-context-dev libcereal-dev
copy_tree
in_root /corymb/tools/test/aarch64_inside.sh /corymb/tools/test/emulated.txt
cp "$place/corymb/build/log/aarch64.count" "$log/$stage.count"

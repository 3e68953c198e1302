#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# use_installed.sh WAY BUILD SOURCE COMPILER PROGRAM: builds and runs the small program against
# corymb, found by cmake, by pkg-config (both from a moved installation) or as a subfolder.
set -euo pipefail
way=$1 build=$2 source=$3 compiler=$4 program=$5
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

install_and_move() {
    cmake --install "$build" --prefix "$place/first" >"$place/install.log"
    mv "$place/first" "$place/moved"
    local missing=0 file
    for file in share/corymb/machines include/corymb/corymb.hpp; do
        [ -e "$place/moved/$file" ] || { echo "not installed: $file" && missing=1; }
    done
    return $missing
}

libraries() {
    dirname "$(find "$place/moved" -name 'libcorymb.so' -print -quit)"
}

build_with_cmake() {
    cmake -S "$program" -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CXX_COMPILER="$compiler" "$@"
    cmake --build "$place/build"
}

case $way in
cmake)
    install_and_move
    build_with_cmake -DCMAKE_PREFIX_PATH="$place/moved"
    output=$("$place/build/user")
    ;;
pkg-config)
    install_and_move
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH="$(libraries)/pkgconfig"
    read -r -a flags <<<"$(pkg-config --cflags --libs corymb)"
    "$compiler" -std=c++20 "$program/user.cpp" "${flags[@]}" -o "$place/user"
    output=$(LD_LIBRARY_PATH=$(libraries) "$place/user")
    ;;
add-subdirectory)
    build_with_cmake -DCORYMB_SOURCE="$source"
    output=$("$place/build/user")
    if [ -n "$(find "$place/build" -name '*_tests' -print -quit)" ]; then
        echo "a subfolder built its tests unasked" && exit 1
    fi
    ;;
*) echo "unknown way $way" && exit 2 ;;
esac
echo "$output"
grep -q 'sum 3, unknown_name' <<<"$output"

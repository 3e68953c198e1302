#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# use_installed.sh WAY BUILD SOURCE COMPILER PROGRAM: builds and runs two small programs, PROGRAM
# and PROGRAM_c (in C), against corymb, found by cmake or by pkg-config, both from a moved
# installation. As a subfolder it is only configured and compiled: the library itself would be the
# same once more.
set -euo pipefail
way=$1 build=$2 source=$3 compiler=$4 program=$5 program_c=$5_c
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

install_and_move() {
    cmake --install "$build" --prefix "$place/first" >"$place/install.log"
    mv "$place/first" "$place/moved"
    local missing=0 file
    for file in share/corymb/machines include/corymb/corymb.hpp include/corymb.h; do
        [ -e "$place/moved/$file" ] || { echo "not installed: $file" && missing=1; }
    done
    return $missing
}

libraries() {
    dirname "$(find "$place/moved" -name 'libcorymb.so' -print -quit)"
}

configure() {
    cmake -S "$program" -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_CXX_COMPILER="$compiler" "$@"
}

case $way in
cmake)
    install_and_move
    configure -DCMAKE_PREFIX_PATH="$place/moved"
    cmake --build "$place/build"
    output=$("$place/build/user")
    cmake -S "$program_c" -B "$place/build_c" -G Ninja -DCMAKE_PREFIX_PATH="$place/moved"
    cmake --build "$place/build_c"
    output_c=$("$place/build_c/user_c")
    ;;
pkg-config)
    install_and_move
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH="$(libraries)/pkgconfig"
    read -r -a flags <<<"$(pkg-config --cflags --libs corymb)"
    "$compiler" -std=c++20 "$program/user.cpp" "${flags[@]}" -o "$place/user"
    output=$(LD_LIBRARY_PATH=$(libraries) "$place/user")
    cc -std=c11 -Wall -Wextra -pedantic -Werror "$program_c/user.c" "${flags[@]}" \
        -o "$place/user_c"
    output_c=$(LD_LIBRARY_PATH=$(libraries) "$place/user_c")
    ;;
add-subdirectory)
    configure -DCORYMB_SOURCE="$source"
    cmake --build "$place/build" --target CMakeFiles/user.dir/user.cpp.o
    targets=$(ninja -C "$place/build" -t targets all)
    grep -q '^corymb/src/libcorymb.so' <<<"$targets"
    if grep -E '_tests:|corymb-bench:|corymb/install' <<<"$targets" >/dev/null; then
        echo "as a subfolder corymb brings tests, benchmarks or installation unasked" && exit 1
    fi
    exit 0
    ;;
*) echo "unknown way $way" && exit 2 ;;
esac
printf '%s\n' "$output" "$output_c"
grep -q 'sum 3, unknown_name' <<<"$output"
grep -q 'sum 3, invalid_argument' <<<"$output_c"

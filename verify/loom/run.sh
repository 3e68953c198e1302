#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Explores the worlds of two threads with loom. Usage: run.sh BUILD_FOLDER [COMPILER...]
# Exit status 77 and one line "skipped: why" when loom is not to be had.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:?the folder to build in}
shift
compiler=("${@:-c++}")

skip() {
    echo "skipped: $1"
    exit 77
}

command -v cargo >/dev/null || skip "cargo is not installed"
mkdir -p "$build"
cargo fetch --locked --manifest-path "$here/Cargo.toml" >"$build/fetch.log" 2>&1 ||
    skip "cargo cannot fetch the crates ($(tail -n 1 "$build/fetch.log"))"
cargo build --release --locked --offline --quiet --manifest-path "$here/Cargo.toml" \
    --target-dir "$build/target"
"${compiler[@]}" -std=c++20 -O1 -DNDEBUG -Wall -Wextra -I"$here" -I"$here/../../src" \
    -I"$here/../../include" "$here/loom_worlds.cpp" "$build/target/release/libloom_bridge.a" \
    -lpthread -ldl -o "$build/loom_worlds"
"$build/loom_worlds"

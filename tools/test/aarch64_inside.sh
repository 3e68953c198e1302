#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The part of the stage aarch64 within the Debian root: builds, then runs each unit program. The
# argument names the list of tests that an emulated machine cannot run.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

left_out=$(sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "$1" | paste -sd:)
export CMAKE_CXX_COMPILER_LAUNCHER=ccache PKG_CONFIG_LIBDIR=/usr/lib/aarch64-linux-gnu/pkgconfig
PKG_CONFIG_LIBDIR+=:/usr/share/pkgconfig
step configure-aarch64 "configuring for aarch64" cmake -S . -B build/aarch64 -G Ninja \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
    -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O2 -g1" -DCORYMB_WERROR=ON -DCORYMB_BENCH=OFF \
    -DCORYMB_MPI=OFF
step build-aarch64 "building for aarch64" cmake --build build/aarch64 \
    --target unit_tests concurrent_tests
# The programs, not their tests one by one: an emulator takes a second to start. A program may take
# no more memory than this: where limits are ignored, a test could take all.
memory_kib_max=$((8 << 20))
passed=0 failed=0
for program in build/aarch64/tests/*_tests; do
    name=$(basename "$program")
    if (ulimit -v "$memory_kib_max" &&
        timeout $((1500 * CORYMB_TEST_SLOWNESS)) qemu-aarch64 "$program" \
            --gtest_filter="*:-$left_out" >"$log/$name.log" 2>&1); then
        passed=$((passed + 1))
        echo "$name: $(tail -n 1 "$log/$name.log")"
    else
        failed=$((failed + 1))
        echo "$name: failed"
        tail -n 30 "$log/$name.log" | sed 's/^/  | /'
    fi
done
echo "$passed $failed 0" >"$log/aarch64.count"
[ "$failed" -eq 0 ]

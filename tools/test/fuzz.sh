#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# each libFuzzer target for 20 seconds
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need clang++-19
seconds=20
build_preset asan-ubsan fuzz_targets
mapfile -t targets < <(find build/asan-ubsan/tests/fuzz -maxdepth 1 -name '*_fuzz' -executable |
    sort)
[ "${#targets[@]}" -gt 0 ] || fail "no fuzz target was built"
fuzz() {
    local name corpora
    name=$(basename "$1")
    corpora=("$build/asan-ubsan/fuzz-corpus/$name")
    mkdir -p "${corpora[0]}"
    [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
    "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/asan-ubsan/fuzz-$name-" "${corpora[@]}" >"$1.log" 2>&1
}

# Side by side: time is what they need.
children=()
for target in "${targets[@]}"; do
    fuzz "$target" &
    children+=($!)
done
passed=0 failed=0
for number in "${!targets[@]}"; do
    if wait "${children[number]}"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    echo "== $(basename "${targets[number]}")"
    cat "${targets[number]}.log"
done
echo "$passed $failed 0" >"$log/$stage.count"
[ "$failed" -eq 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records histories of shared structures and checks that they are linearizable, and that the checker
# finds structures that are not. Usage: run.sh RECORD_HISTORIES BUILD_FOLDER
# Exit status 77 and one line "skipped: why" when Go or porcupine is not to be had.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
record=$(realpath "${1:?the program that records}")
build=$(realpath "${2:?the folder to build in}")

skip() {
    echo "skipped: $1"
    exit 77
}

command -v go >/dev/null || skip "go is not installed"
mkdir -p "$build"
export GOFLAGS=-mod=readonly
cd "$here/check"
go mod download >"$build/fetch.log" 2>&1 ||
    skip "go cannot fetch porcupine ($(tail -n 1 "$build/fetch.log"))"
go build -o "$build/check" .

failed=0
# expect STATUS ARGUMENT...: records, checks, and compares the checker's exit status.
expect() {
    local wanted=$1 status=0
    shift
    printf '%s: ' "$*"
    timeout 60 "$record" "$@" >"$build/history"
    "$build/check" <"$build/history" || status=$?
    [ "$status" -eq "$wanted" ] || {
        echo "  wrong: status $status instead of $wanted; the history is in $build/history.$failed"
        mv "$build/history" "$build/history.$failed"
        failed=$((failed + 1))
    }
}

for structure in map cached_map exclusive copies value cached moving; do
    for seed in 1 2 3 4 5; do
        expect 0 "$structure" "$seed"
        expect 0 "$structure" "$seed" processes
    done
    expect 1 "$structure" 1 wrong
    expect 1 "$structure" 1 processes wrong
done
[ "$failed" -eq 0 ]

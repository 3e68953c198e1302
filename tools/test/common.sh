# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the test stages. A stage exits 0 (passed), 77 (skipped) or anything else (failed).
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

cd "$root"
# How many times longer than on a quiet machine all takes; tools/test.sh has measured it.
export CORYMB_TEST_SLOWNESS=${CORYMB_TEST_SLOWNESS:-1}
stage=$(basename "$0" .sh)
use_ccache
# Tests leave nothing in the user's own folders.
export CORYMB_CACHE_DIR="$build/cache"

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# need COMMAND...: the stage is skipped unless all of them are there.
need() {
    local command
    for command in "$@"; do
        have "$command" || skip "$command is not installed"
    done
}

# build_preset PRESET TARGET...: configures and builds; the stage fails if that fails.
build_preset() {
    "$root/tools/build.sh" "$@"
}

# run_ctest PRESET ARGUMENT...: runs the tests and counts them. Some only wait, for a deadline or
# for each other: one more than there are CPUs at a time keeps these busy.
run_ctest() {
    local preset=$1 status=0 report="$log/$stage.xml" at_once=$(($(nproc) + 1))
    shift
    rm -f "$report"
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$at_once" \
        --timeout $((1500 * CORYMB_TEST_SLOWNESS)) --output-junit "$report" "$@" || status=$?
    count_junit "$report"
    return "$status"
}

# Writes "passed failed skipped" of a JUnit report for tools/test.sh.
count_junit() {
    local head total failures skipped
    [ -s "$1" ] || return 0
    head=$(tr '\n' ' ' <"$1" | grep -o '<testsuite [^>]*>' | head -n 1)
    total=$(attribute tests "$head")
    failures=$(($(attribute failures "$head") + $(attribute errors "$head")))
    skipped=$(($(attribute skipped "$head") + $(attribute disabled "$head")))
    echo "$((total - failures - skipped)) $failures $skipped" >"$log/$stage.count"
}

# attribute NAME TEXT: the number in NAME="number", else 0.
attribute() {
    local value
    value=$(sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" <<<"$2")
    echo "${value:-0}"
}

# run_pytest ARGUMENT...: as run_ctest, with the package that is installed in build/venv.
run_pytest() {
    local status=0 report="$log/$stage.xml"
    rm -f "$report"
    PATH="$venv/bin:$PATH" "$venv/bin/python" -m pytest --junitxml "$report" \
        --timeout $((300 * CORYMB_TEST_SLOWNESS)) "$@" || status=$?
    count_junit "$report"
    return "$status"
}

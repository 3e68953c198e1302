#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the test stages named on the command line, each a script in tools/test/. Without names: all
# that a change must pass, with --check those that it needs at once, with --long those that take
# longer. Ends with a table and the line "N passed, N failed"; fails if anything failed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# In this order: what fails fastest comes first.
test_stages=(format tidy shell ruff unit install asan clang-tidy tsan-clang model mutation loom fuzz
    histories python docs mpi page)
check_stages=(format tidy shell ruff quick)
long_stages=(storms tsan-gcc guests debian-13 aarch64 mpi-conformance mpi-suite mutants)
# Of a machine to itself. A stage of `make long` that runs all others has more.
seconds_per_stage_max=1500
long_seconds_per_stage_max=14400

purpose='test' kind='test'
case ${1:-} in
--check) kind=check ;;
--long) kind=long purpose=long seconds_per_stage_max=$long_seconds_per_stage_max ;;
esac
[ "$kind" = test ] || shift
prepare_build_folder
stages=("$@")
if [ "${#stages[@]}" -eq 0 ]; then
    declare -n stages_of_kind=${kind}_stages
    stages=("${stages_of_kind[@]}")
fi
for stage in "${stages[@]}"; do
    [ -x "$root/tools/test/$stage.sh" ] || fail "no test stage '$stage'; there are" \
        "${test_stages[*]} (test), ${check_stages[*]} (check) and ${long_stages[*]} (long)"
done

"$root/tools/setup.sh" "$purpose"
CORYMB_TEST_SLOWNESS=$(slowness)
export CORYMB_TEST_SLOWNESS
run_log="$log/$kind-$(date +%Y%m%d-%H%M%S).log"
: >"$run_log"

child='' watcher=''
stop_child() {
    [ -z "$watcher" ] || kill "$watcher" 2>/dev/null || true
    [ -z "$child" ] || { kill -TERM -- "-$child" && wait "$child"; } 2>/dev/null || true
    interrupted
}
trap stop_child INT TERM

# Ends the stage once it has had as much of the machine as in $seconds_per_stage_max s alone: time
# in which others had the CPUs does not count.
watch_stage() {
    local stage_group=$1 output=$2 spent_ms=0
    trap 'exit 0' TERM
    while sleep 30 & wait $!; do
        spent_ms=$((spent_ms + 30000 / $(slowness)))
        [ "$spent_ms" -gt $((seconds_per_stage_max * 1000)) ] || continue
        echo "stopped: it had as much time as $seconds_per_stage_max s alone" >>"$output"
        kill -TERM -- "-$stage_group" 2>/dev/null || return 0
        sleep 10 & wait $!
        kill -KILL -- "-$stage_group" 2>/dev/null || return 0
    done
}

# run_limited STAGE OUTPUT: its exit status.
run_limited() {
    local status=0
    : >"$2"
    # The shell starts what runs beside it with Ctrl-C ignored, and tests send that.
    setsid env --default-signal=INT,QUIT "$root/tools/test/$1.sh" >>"$2" 2>&1 </dev/null &
    child=$!
    watch_stage "$child" "$2" &
    watcher=$!
    wait "$child" || status=$?
    { kill "$watcher" && wait "$watcher"; } 2>/dev/null || true
    child='' watcher=''
    return "$status"
}

# A stage leaves "passed failed skipped" in build/log/STAGE.count if it counts its own tests; else
# the stage is one test. Exit status 77 means skipped, the reason is its last line; where
# CORYMB_SKIP_NONE is set, that is a failure.
passed=0 failed=0 skipped=0 table=() failed_stages=()
run_stage() {
    local stage=$1 status=0 begin=$SECONDS p=1 f=0 s=0 result=passed remark="" title
    local output="$log/stage-$stage.log" count="$log/$stage.count"
    title=$(sed -n '3s/^# //p' "$root/tools/test/$stage.sh")
    rm -f "$count" "$log/$stage.xml"
    printf '== %-11s %s ... ' "$stage" "$title"
    run_limited "$stage" "$output" || status=$?
    [ ! -s "$count" ] || read -r p f s <"$count"
    [ "$status" -ne 77 ] || [ -z "${CORYMB_SKIP_NONE:-}" ] || status=1
    case $status in
    0) [ "$f" -eq 0 ] || result=FAILED ;;
    77) result=skipped p=0 f=0 s=1 remark=$(tail -n 1 "$output") ;;
    *) result=FAILED
        [ "$f" -gt 0 ] || { f=1 && [ -s "$count" ] || p=0; } ;;
    esac
    printf '%s, %d s%s\n' "$result" $((SECONDS - begin)) "${remark:+ ($remark)}"
    { printf '== %s: %s, %d s\n' "$stage" "$result" $((SECONDS - begin)) && cat "$output"; } \
        >>"$run_log"
    if [ "$result" = FAILED ]; then
        tail -n 40 "$output" | sed 's/^/  | /'
        remark="log: ${output#"$root"/}"
        failed_stages+=("$stage")
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    table+=("$(printf '%-15s %-8s %7d %7d %8d %6d s  %s' \
        "$stage" "$result" "$p" "$f" "$s" $((SECONDS - begin)) "$remark")")
}

for stage in "${stages[@]}"; do
    run_stage "$stage"
done

finish() {
    printf '\n%-15s %-8s %7s %7s %8s %8s\n' stage result passed failed skipped time
    printf '%s\n' "${table[@]}"
    # Whoever sees only the end should see what failed and why.
    for stage in "${failed_stages[@]}"; do
        [ ! -s "$log/$stage.xml" ] ||
            "$(system_python)" tools/failed_tests.py "$stage" "$log/$stage.xml"
    done
    printf '\nlog: %s\n%d passed, %d failed' "${run_log#"$root"/}" "$passed" "$failed"
    [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
    printf '\n'
}
finish | tee -a "$run_log"
[ "$failed" -eq 0 ]

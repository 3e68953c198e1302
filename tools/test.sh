#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the test stages named on the command line, without names all but tsan-gcc, each a script in
# tools/test/. Ends with a table and the line "N passed, N failed"; fails if anything failed.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# In this order: what fails fastest comes first.
all_stages=(format tidy shell ruff unit install asan clang-tidy tsan-clang model mutation loom fuzz
    python mpi page)
# Only when named: the same tests as tsan-clang, nine minutes with an empty compiler cache.
more_stages=(tsan-gcc)
seconds_per_stage_max=1500

prepare_build_folder
stages=("$@")
[ "${#stages[@]}" -gt 0 ] || stages=("${all_stages[@]}")
for stage in "${stages[@]}"; do
    [ -x "$root/tools/test/$stage.sh" ] ||
        fail "no test stage '$stage'; there are: ${all_stages[*]} ${more_stages[*]}"
done

"$root/tools/setup.sh" test

child=
stop_child() {
    [ -z "$child" ] || { kill -TERM "$child" && wait "$child"; } 2>/dev/null || true
    interrupted
}
trap stop_child INT TERM

# A stage leaves "passed failed skipped" in build/log/STAGE.count if it counts its own tests; else
# the stage is one test. Exit status 77 means skipped, the reason is its last line.
passed=0 failed=0 skipped=0 table=() failed_stages=()
run_stage() {
    local stage=$1 status=0 begin=$SECONDS p=1 f=0 s=0 result=passed remark="" title
    local output="$log/stage-$stage.log" count="$log/$stage.count"
    title=$(sed -n '3s/^# //p' "$root/tools/test/$stage.sh")
    rm -f "$count" "$log/$stage.xml"
    printf '== %-11s %s ... ' "$stage" "$title"
    timeout --kill-after=10 "$seconds_per_stage_max" "$root/tools/test/$stage.sh" \
        >"$output" 2>&1 </dev/null &
    child=$!
    wait "$child" || status=$?
    child=
    [ ! -s "$count" ] || read -r p f s <"$count"
    case $status in
    0) [ "$f" -eq 0 ] || result=FAILED ;;
    77) result=skipped p=0 f=0 s=1 remark=$(tail -n 1 "$output") ;;
    *) result=FAILED
        [ "$status" -ne 124 ] || echo "stopped after $seconds_per_stage_max s" >>"$output"
        [ "$f" -gt 0 ] || { f=1 && [ -s "$count" ] || p=0; } ;;
    esac
    printf '%s, %d s%s\n' "$result" $((SECONDS - begin)) "${remark:+ ($remark)}"
    if [ "$result" = FAILED ]; then
        tail -n 40 "$output" | sed 's/^/  | /'
        remark="log: ${output#"$root"/}"
        failed_stages+=("$stage")
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    table+=("$(printf '%-11s %-8s %7d %7d %8d %6d s  %s' \
        "$stage" "$result" "$p" "$f" "$s" $((SECONDS - begin)) "$remark")")
}

for stage in "${stages[@]}"; do
    run_stage "$stage"
done

printf '\n%-11s %-8s %7s %7s %8s %8s\n' stage result passed failed skipped time
printf '%s\n' "${table[@]}"
# Whoever sees only the end should see what failed and why.
for stage in "${failed_stages[@]}"; do
    [ ! -s "$log/$stage.xml" ] ||
        "$(system_python)" tools/failed_tests.py "$stage" "$log/$stage.xml"
done
printf '\n%d passed, %d failed' "$passed" "$failed"
[ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
printf '\n'
[ "$failed" -eq 0 ]

# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts in tools/: strict mode, one printed line and one log a step, and one clear
# line when a step fails.
set -euo pipefail
export LC_ALL=C.UTF-8

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build="$root/build"
log="$build/log"
export venv="$build/venv"

# fail TEXT: the one clear line, and the end.
fail() {
    printf 'corymb: %s\n' "$*" >&2
    exit 1
}

# note TEXT: something a person should know; not a failure.
note() {
    printf '  %s\n' "$*"
}

# Every script calls this first: all that is built or logged stands below build/.
prepare_build_folder() {
    cd "$root"
    if ! mkdir -p "$log" 2>/dev/null || ! [ -w "$log" ] || ! [ -w "$build" ]; then
        fail "no permission to write to $build: use a clone of your own, or remove build/ if" \
            "another user made it"
    fi
}

# step NAME TEXT COMMAND...: runs the command with its output in build/log/NAME.log; prints one line
# with the elapsed time. On failure prints the end of the log and then one line, and ends.
step() {
    local name=$1 text=$2 status=0 begin=$SECONDS
    shift 2
    printf '%-58s ' "$text"
    "$@" >"$log/$name.log" 2>&1 </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        printf 'failed after %d s\n' $((SECONDS - begin))
        tail -n 20 "$log/$name.log" | sed 's/^/  | /'
        fail "$(reason_of_failure "$name" "$text")"
    fi
    printf '%d s\n' $((SECONDS - begin))
}

# What a person can do about it, read from the log where the cause is a well-known one.
reason_of_failure() {
    local file="$log/$1.log"
    local network='Temporary failure resolving|Could not resolve|Name or service not known'
    network+='|Network is unreachable|Failed to establish a new connection|Could not connect to'
    network+='|Failed to fetch|Connection timed out|ProxyError|spurious network error'
    if grep -qE "$network" "$file"; then
        echo "$2: no network (a package could not be fetched); log: ${file#"$root"/}"
    elif grep -q 'No space left on device' "$file"; then
        echo "$2: the disk is full; log: ${file#"$root"/}"
    elif grep -qE 'No CMAKE_CXX_COMPILER could be found|CMAKE_CXX_COMPILER not set' "$file"; then
        echo "$2: no C++ compiler; run tools/setup.sh; log: ${file#"$root"/}"
    elif grep -q 'Permission denied' "$file"; then
        echo "$2: no permission; log: ${file#"$root"/}"
    else
        echo "$2: failed; log: ${file#"$root"/}"
    fi
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# system_of FILE: what an os-release file says of the system, a word and its name. tried: `make
# test` passes there. untried: it has the packages. old: it lacks some. unknown: any other.
system_of() (
    ID='' VERSION_ID='' PRETTY_NAME=''
    # shellcheck disable=SC1090
    [ ! -r "$1" ] || . "$1"
    case $ID/$VERSION_ID in
    debian/12 | debian/13) word=tried ;;
    debian/ | debian/1[4-9] | debian/[2-9][0-9]) word=untried ;;
    ubuntu/2[4-9].* | ubuntu/[3-9][0-9].*) word=untried ;;
    debian/* | ubuntu/*) word=old ;;
    *) word=unknown ;;
    esac
    printf '%s %s\n' "$word" "${PRETTY_NAME:-an unknown system}"
)

# How many times longer than alone a process takes on this machine now, rounded up (1 if unknown).
slowness() {
    local python
    python=$(system_python) && "$python" "$root/tools/slowness.py" || echo 1
}

# ccache, where there is one, serves the same sources in another clone too.
use_ccache() {
    if have ccache; then
        export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR="$root"
        export CCACHE_SLOPPINESS=time_macros,pch_defines,include_file_mtime,include_file_ctime
    fi
}

# Debian's own interpreter, so that the environment does not depend on a version manager.
system_python() {
    local candidate
    for candidate in /usr/bin/python3 python3; do
        if have "$candidate" &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

# Ctrl-C reaches a script and those that it runs: the one that a person has called says so.
[ -n "${CORYMB_OUTERMOST_SCRIPT:-}" ] || export CORYMB_OUTERMOST_SCRIPT=$$

interrupted() {
    [ "$CORYMB_OUTERMOST_SCRIPT" != $$ ] || printf '\ncorymb: interrupted\n' >&2
    trap - INT TERM
    exit 130
}
trap interrupted INT TERM

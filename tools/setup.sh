#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build (tools/setup.sh build), for the site of the documentation, too
# (tools/setup.sh docs), to test (tools/setup.sh test) or for the long tests (tools/setup.sh long):
# Debian packages by apt-get, Python ones into build/venv.
# When nothing is missing it neither asks for rights nor uses the network.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

purpose=${1:-build}
case $purpose in
build) optional_purposes=() requirements=(build) ;;
docs) optional_purposes=(docs) requirements=(build docs) ;;
test) optional_purposes=(docs test) requirements=(build test docs) ;;
long) optional_purposes=(docs test long) requirements=(build test docs) ;;
*) fail "tools/setup.sh takes build, docs, test or long, not '$purpose'" ;;
esac

# Prints the packages of a purpose that are neither installed nor made unnecessary by a command.
missing_packages() {
    local purpose package instead
    while read -r purpose package instead; do
        if [ "$purpose" != "$1" ] || { [ -n "$instead" ] && have "$instead"; }; then
            continue
        fi
        if ! dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed'; then
            printf '%s\n' "$package"
        fi
    done <"$root/tools/packages.txt"
}

read -r system distribution < <(system_of /etc/os-release)

# Sets `as_root` to the command that gives root's rights, or `no_rights` to the reason.
find_rights() {
    as_root=() no_rights=
    if [ "$(id -u)" -eq 0 ]; then
        return
    elif ! have sudo; then
        no_rights="needs root or sudo once"
    elif sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; then
        as_root=(sudo)
    else
        no_rights="sudo does not work here without asking for a password"
    fi
}

# apt-get update takes a lock that DPkg::Lock::Timeout does not cover.
update_package_lists() {
    local try output
    for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
        if output=$("${as_root[@]}" apt-get update -o APT::Update::Error-Mode=any 2>&1); then
            printf '%s\n' "$output"
            return 0
        fi
        printf '%s\n' "$output"
        grep -q 'Could not get lock' <<<"$output" || return 1
        echo "another program holds the package lock; try $try of 12"
        sleep 10
    done
    return 1
}

install_packages() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=600 "$@"
}

install_missing_packages() {
    local required=() optional=() package known=()
    mapfile -t required < <(missing_packages build)
    for package in ${optional_purposes[@]+"${optional_purposes[@]}"}; do
        mapfile -t -O "${#optional[@]}" optional < <(missing_packages "$package")
    done
    if [ $((${#required[@]} + ${#optional[@]})) -eq 0 ]; then
        return 0
    fi
    have apt-get || fail "unsupported distribution ($distribution): install by hand what" \
        "tools/packages.txt lists, then use cmake (README.md)"
    find_rights
    if [ -n "$no_rights" ] && [ "${#required[@]}" -gt 0 ]; then
        fail "$no_rights; as root: apt-get install ${required[*]}"
    elif [ -n "$no_rights" ]; then
        note "$no_rights, so stages are skipped that need: ${optional[*]}"
        return 0
    fi
    step apt-update "updating the package lists" update_package_lists
    for package in "${optional[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            known+=("$package")
        else
            note "$package does not exist in $distribution; stages that need it are skipped"
        fi
    done
    for package in "${required[@]}"; do
        apt-cache show "$package" >/dev/null 2>&1 ||
            fail "unsupported distribution ($distribution): it has no package $package"
        known+=("$package")
    done
    [ "${#known[@]}" -eq 0 ] ||
        step apt-install "installing ${#known[@]} Debian packages" install_packages "${known[@]}"
}

make_environment() {
    "$python" -m venv "$venv" && "$venv/bin/python" -m pip --version
}

install_requirements() {
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --requirement "$1" &&
        cp "$1" "$2"
}

# The copy of the list that was installed last stands in the environment; equal means done.
install_python_packages() {
    local name list stamp
    python=$(system_python) || fail "no Python 3.11 or later; install python3"
    if ! "$venv/bin/python" -c '' 2>/dev/null; then
        rm -rf "$venv"
        "$python" -c 'import ensurepip, venv' 2>/dev/null ||
            fail "$python has no venv module; install python3-venv"
        step venv "making a Python environment in build/venv" make_environment
    fi
    for name in "$@"; do
        list="$root/tools/requirements-$name.txt"
        stamp="$venv/requirements-$name.txt"
        cmp -s "$list" "$stamp" ||
            step "pip-$name" "installing Python packages ($name)" \
                install_requirements "$list" "$stamp"
    done
}

prepare_build_folder
case $system in
old) fail "$distribution is too old: Debian 12, Ubuntu 24.04 or later is needed" ;;
untried) note "$distribution: its packages have the names of Debian's, but nobody has tried it" ;;
esac
have dpkg-query || fail "unsupported distribution ($distribution): install by hand what" \
    "tools/packages.txt lists, then use cmake (README.md)"
install_missing_packages
install_python_packages "${requirements[@]}"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing to build (tools/setup.sh build) or to test (tools/setup.sh test): Debian
# packages by apt-get, Python packages into build/venv. When nothing is missing it neither asks for
# rights nor uses the network.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

purpose=${1:-build}
case $purpose in
build | test) ;;
*) fail "tools/setup.sh takes build or test, not '$purpose'" ;;
esac

# Prints the packages of a purpose that dpkg does not list as installed.
missing_packages() {
    local wanted package
    wanted=$(awk -v purpose="$1" '$1 == purpose {print $2}' "$root/tools/packages.txt")
    for package in $wanted; do
        if ! dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed'; then
            printf '%s\n' "$package"
        fi
    done
}

distribution() {
    # shellcheck disable=SC1091
    (. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-unknown}") || printf 'unknown'
}

# Sets `as_root` to the command that gives root's rights; fails with one line if there is none.
find_rights() {
    if [ "$(id -u)" -eq 0 ]; then
        as_root=()
    elif ! have sudo; then
        fail "needs root or sudo once, to install: $*"
    elif sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; then
        as_root=(sudo)
    else
        fail "sudo asks for a password and this is no terminal; as root: apt-get install $*"
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
    [ "$purpose" = test ] && mapfile -t optional < <(missing_packages test)
    if [ $((${#required[@]} + ${#optional[@]})) -eq 0 ]; then
        return 0
    fi
    have apt-get || fail "unsupported distribution ($(distribution)): install by hand what" \
        "tools/packages.txt lists, then use cmake (README.md)"
    find_rights "${required[@]}" "${optional[@]}"
    step apt-update "updating the package lists" update_package_lists
    for package in "${optional[@]}"; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            known+=("$package")
        else
            note "$package does not exist in $(distribution); stages that need it are skipped"
        fi
    done
    for package in "${required[@]}"; do
        apt-cache show "$package" >/dev/null 2>&1 ||
            fail "unsupported distribution ($(distribution)): it has no package $package"
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
have dpkg-query || fail "unsupported distribution ($(distribution)): install by hand what" \
    "tools/packages.txt lists, then use cmake (README.md)"
install_missing_packages
if [ "$purpose" = test ]; then
    install_python_packages build test
else
    install_python_packages build
fi

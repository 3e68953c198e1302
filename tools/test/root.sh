# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by stages that run in a Debian of their own, in build/roots/STAGE. It is made once and
# kept, with its compiler cache; `rm -r` of the folder makes it anew. Needs root and debootstrap.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

place="$build/roots/$stage"

# The mirror that this system itself takes its packages from.
mirror() {
    local codename
    # shellcheck disable=SC1091
    codename=$(. /etc/os-release && [ "$ID" = debian ] && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(REPO_URI)' "Codename: $codename" 'Component: main' \
        'Created-By: Packages' | head -n 1
}

# Prints NAME=VALUE of what package clients read: proxies, certificates, settings of pip and cargo.
variables_of_clients() {
    env | grep -E '^(PIP_|CARGO_(HTTP|NET|REGISTR)|[a-zA-Z]+_(proxy|PROXY)=|SSL_CERT_FILE=)' || true
}

# in_root COMMAND...: with /proc, /dev and a private /dev/shm that are gone when it ends.
in_root() {
    local variables=()
    mapfile -t variables < <(variables_of_clients)
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child bash -ec '
        place=$1 && shift
        mount --make-rprivate /
        mount -t proc proc "$place/proc"
        mount --rbind /dev "$place/dev"
        mount -t tmpfs -o mode=1777 tmpfs "$place/dev/shm"
        mount --rbind /sys "$place/sys"
        exec chroot "$place" env -i HOME=/home TERM=dumb LC_ALL=C.UTF-8 \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            "$@"' in_root "$place" "CORYMB_TEST_SLOWNESS=$CORYMB_TEST_SLOWNESS" \
        ${variables[@]+"${variables[@]}"} "$@"
}

# copy_settings FILE[:PLACE]...: those that are there, so that package clients work as outside.
copy_settings() {
    local file
    for file in "$@"; do
        [ -f "${file%%:*}" ] || continue
        mkdir -p "$place$(dirname "${file##*:}")"
        cp -L "${file%%:*}" "$place${file##*:}"
    done
}

install_in_root() {
    in_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

# make_root SUITE PACKAGE...: the stage is skipped where that cannot be.
make_root() {
    local suite=$1 from
    shift
    need debootstrap unshare apt-get
    [ "$(id -u)" -eq 0 ] || skip "it makes a Debian root, which takes root's rights"
    unshare --mount --pid --fork true 2>/dev/null || skip "no mounts of its own are allowed here"
    if [ ! -f "$place/made" ]; then
        from=$(mirror)
        [ -n "$from" ] || skip "this system does not say where Debian's packages are"
        rm -rf "$place"
        mkdir -p "$place"
        step "root-$stage" "making a root of Debian $suite" \
            debootstrap --variant=minbase "$suite" "$place" "$from"
        touch "$place/made"
    fi
    step "root-packages-$stage" "installing packages in it" install_in_root ca-certificates "$@"
    copy_settings /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt \
        "${CARGO_HOME:-$HOME/.cargo}/config.toml:/home/.cargo/config.toml"
}

# add_architecture NAME PACKAGE...: packages of another processor, beside those of this one.
add_architecture() {
    local name=$1
    shift
    in_root dpkg --add-architecture "$name"
    step "root-lists-$stage" "updating its package lists" in_root apt-get update
    step "root-$name-$stage" "installing packages of $name in it" \
        install_in_root "${@/%/:$name}"
}

# The files of this tree as they are now, without build/, which the root keeps.
copy_tree() {
    mkdir -p "$place/corymb"
    find "$place/corymb" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git ls-files -z -co --exclude-standard | tar --null --files-from=- --create |
        tar --extract --directory "$place/corymb"
    in_root sh -c 'cd /corymb && git init -q && git add -A'
}

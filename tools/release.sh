#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does all of a release that does not need the outside: checks the tree and its version, makes the
# source package and the wheel in build/release, and tries both. With RELEASE=1 it tags the commit.
# Nothing is uploaded and nothing is pushed; it prints the commands that do so.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

prepare_build_folder
python=$(system_python) || fail "no Python 3.11 or later; run tools/setup.sh"
[ -x "$venv/bin/python" ] || fail "no build/venv; run tools/setup.sh"
release="$build/release"

# The version of the header, the only one; the tidy test compares all others with it.
version=$(sed -n 's/^#define CORYMB_VERSION_[A-Z]* //p' include/corymb/version.hpp | paste -sd .)
top=$(grep -m 1 '^## ' CHANGELOG.md)
[[ $top =~ ^"## [$version] - "[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
    fail "CHANGELOG.md begins with '$top', want '## [$version] - DATE'"
grep -q "^date-released: \"${top##* }\"$" CITATION.cff ||
    fail "CITATION.cff has another date than CHANGELOG.md, ${top##* }"
[ -z "$(git status --porcelain)" ] || fail "the tree has changes: commit or stash them"
if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
    fail "v$version is tagged already: raise the version in include/corymb/version.hpp"
fi
step release-tidy "checking the rules of the tree" "$python" tests/tidy/tidy.py
step release-results "checking the pages of figures" "$python" tools/results check

rm -rf "$release"
mkdir -p "$release/dist"
step release-sdist "making the source package" "$venv/bin/python" -c \
    'import sys; import scikit_build_core.build as build; build.build_sdist(sys.argv[1])' \
    "$release/dist"
# The wheel is made from the source package, so that it has nothing that users do not get.
tar -xzf "$release/dist/corymb-$version.tar.gz" -C "$release"
use_ccache
export CCACHE_BASEDIR="$release/corymb-$version"
step release-wheel "making the wheel from it" env PATH="$venv/bin:$PATH" \
    "$venv/bin/python" -m pip wheel --disable-pip-version-check --no-input --no-deps \
    --no-build-isolation --no-index --wheel-dir "$release/dist" "$release/corymb-$version"

step release-venv "making an environment for the checks" "$python" -m venv "$release/checks"
step release-twine "installing twine" "$release/checks/bin/pip" install --no-input \
    --disable-pip-version-check --requirement "$root/tools/requirements-release.txt"
step release-check "checking what package indexes check" \
    "$release/checks/bin/twine" check --strict "$release"/dist/*
step release-user "making an environment of a user" "$python" -m venv "$release/user"
step release-install "installing the wheel there" "$release/user/bin/pip" install --no-input \
    --disable-pip-version-check "$release"/dist/*.whl
step release-run "using it" env -C / "$release/user/bin/python" "$root/examples/power_iteration.py"
step release-command "asking the command" env -C / "$release/user/bin/corymb" --version

note "in build/release/dist: $(cd "$release/dist" && echo *)"
if [ "${RELEASE:-}" = 1 ]; then
    git tag --annotate "v$version" --message "corymb $version"
    note "tagged v$version"
    note "next:  git push origin v$version"
else
    note "next:  RELEASE=1 make release, which tags v$version"
fi
note "then:  $release/checks/bin/twine upload $release/dist/corymb-$version.tar.gz"
note "an index takes wheels with a manylinux tag only; this one is for systems like this"

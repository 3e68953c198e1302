#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# shell scripts pass shellcheck
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need shellcheck
git ls-files -z -- '*.sh' .ci/run | xargs -0 shellcheck -x

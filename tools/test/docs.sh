#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# the site of the documentation builds without a warning
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need doxygen
"$root/tools/docs.sh"

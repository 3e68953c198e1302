#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# of 60 mutants that change a result, assertions stop 50 before it leaves a call
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev corymb_internal
"$(system_python)" verify/mutants/mutants.py --library build/dev/src/libcorymb_internal.a \
    --compiler "ccache g++" --jobs "$(nproc)" --seeds 1

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# histories of shared structures, judged by porcupine
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need go g++
build_preset dev record_histories
verify/histories/run.sh "$build/dev/verify/record_histories" "$build/histories"

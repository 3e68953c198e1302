#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pip install, then the tests of the package and the command
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/tools/install_python.sh" --as-dev
run_pytest tests/python --ignore=tests/python/test_report.py

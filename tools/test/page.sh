#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# report.html loads in headless Chromium without an error
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need chromium
"$venv/bin/python" -c 'import corymb' 2>/dev/null || "$root/tools/install_python.sh" --as-dev
run_pytest tests/python/test_report.py

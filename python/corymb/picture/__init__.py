# SPDX-License-Identifier: Apache-2.0
"""Drawing only: every function here takes numbers that were computed elsewhere."""

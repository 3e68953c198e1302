# SPDX-License-Identifier: Apache-2.0
"""Ranks in Python for `corymb bench peers`: the counterpart of `bench/mpi/`. They run in other
environments, too, with nothing of corymb but this folder, as `python -m ranks.MODULE`."""

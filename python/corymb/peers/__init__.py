# SPDX-License-Identifier: Apache-2.0
"""corymb beside MPI libraries: starts the ranks of each, lets them take turns, judges.

`contestant` knows how each is started, `session` talks to the ranks of one, `measure` alternates
them, `verdict` says who was faster. The ranks' side is `bench/mpi/`.
"""

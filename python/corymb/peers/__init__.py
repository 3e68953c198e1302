# SPDX-License-Identifier: Apache-2.0
"""corymb beside MPI libraries: starts the ranks of each, lets them take turns, judges.

`contestant` knows how each is started, `session` talks to the ranks of one, `cases` says what is
measured, `turn` what one contestant does in its turn, `measure` alternates them, `rows` makes the
results, `verdict` says who was faster. The ranks' side is `bench/mpi/` and, for Python, `ranks/`.
"""

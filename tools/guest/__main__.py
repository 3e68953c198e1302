# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a machine of another shape: python3 tools/guest --shape 2x4x2 -- COMMAND.

A stock kernel boots in QEMU with the sockets, dies, cores, threads and NUMA nodes that are asked
for. Its files are those of this machine, read-only below a file system in memory, so a build of
this tree runs as it is. Times that are measured there mean nothing: each instruction is emulated.
The exit status is the command's, or 125 if the machine did not come so far.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from machine import CPU, Guest, GuestError, standard_output
from shape import parse_shape

CACHE = Path(__file__).resolve().parents[2] / "build" / "guest"


def main() -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("tools/guest", description=__doc__, formatter_class=plain)
    add = parser.add_argument
    add("--shape", required=True, help="sockets x cores x threads, or with dies: 2x2x4x2")
    add("--numa", default="1", help='number of nodes, or their distances: "10,21;21,10"')
    add("--memory", type=int, default=2048, help="mebibytes (2048)")
    add("--share", default="", help="a folder that the guest writes to")
    add("--cpu", default=CPU, help=f"QEMU's model of the processor ({CPU})")
    add("--kernel", default="linux-image-amd64", help="package of the kernel (linux-image-amd64)")
    add("--append", default="", help='for the kernel\'s command line, such as "isolcpus=2,3 nosmt"')
    add("--seconds", type=float, default=600, help="the machine is stopped after them (600)")
    add("command", nargs="+", metavar="COMMAND", help="behind --; it has no terminal and no input")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # So that the machine ends, too.
    try:
        guest = Guest(
            parse_shape(given.shape, given.numa),
            given.memory,
            given.cpu,
            given.append,
            str(Path(given.share).resolve()) if given.share else "",
            given.kernel,
            given.seconds,
        )
        return guest.run(given.command, CACHE, *standard_output())
    except (GuestError, ValueError, OSError) as error:
        print(f"tools/guest: {error}", file=sys.stderr)
        return 125


if __name__ == "__main__":
    sys.exit(main())

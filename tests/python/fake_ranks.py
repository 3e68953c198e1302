# SPDX-License-Identifier: Apache-2.0
"""Ranks that talk as bench/mpi/session.h says, but take whatever time they are told.

`fake_ranks.py RANKS NANOSECONDS [BEHAVIOUR]`: each operation seems to take that long, work as long
as it is said, and one after the other, unless the behaviour is `hides`. Other behaviours: `wrong`
results, `silent` after hello, `dies` at the first command, `no-barrier`, `forgetful` (no memory
above 1 KiB).
"""

import os
import struct
import sys
import threading
from pathlib import Path

SAMPLES_MAX = 4096
COPY_NS_OF_KIB = 100


def serve(folder: Path, rank: int, took: int, behaviour: str) -> None:
    with (folder / f"command.{rank}").open(encoding="ascii") as commands:
        say(folder, f"hello {rank} {os.getpid()} 1")
        for line in commands:
            words = line.split()
            if words[0] == "quit":
                return
            if behaviour == "dies":
                print("this library has had enough", flush=True)
                os._exit(3)
            if behaviour == "silent":
                continue
            work(folder, rank, length(took, behaviour, words), words)
            say(folder, f"done {rank} {result(behaviour, words[0], int(words[2]))}")


def result(behaviour: str, operation: str, size: int) -> str:
    if behaviour == "no-barrier" and operation == "barrier":
        return "unsupported"
    if behaviour == "forgetful" and size > 1024:
        return "memory"
    return "wrong" if behaviour == "wrong" else "ok"


def length(took: int, behaviour: str, words: list[str]) -> int:
    """Of one iteration."""
    labour = int(words[8])
    if words[0] == "copy":
        return int(words[2]) // 1024 * COPY_NS_OF_KIB
    if words[0] == "compute":
        return labour
    return max(took, labour) if behaviour == "hides" else took + labour


def work(folder: Path, rank: int, each: int, words: list[str]) -> None:
    iterations, start, window = int(words[5]), int(words[6]), int(words[7])
    count = iterations if window else 1
    stretch = each if window else each * iterations
    with (folder / "samples").open("r+b") as samples:
        samples.seek(rank * SAMPLES_MAX * 16)
        # Later ranks begin later; the operation counts from the last one's begin.
        samples.write(struct.pack("qq", start + rank, start + rank + stretch) * count)


def say(folder: Path, text: str) -> None:
    pipe = os.open(folder / "reply", os.O_WRONLY)
    os.write(pipe, (text + "\n").encode())
    os.close(pipe)


def main(ranks: int, took: int, behaviour: str = "") -> None:
    folder = Path(os.environ["CORYMB_PEER_FOLDER"])
    threads = [
        threading.Thread(target=serve, args=(folder, rank, took, behaviour))
        for rank in range(ranks)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])

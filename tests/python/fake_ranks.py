# SPDX-License-Identifier: Apache-2.0
"""Ranks that talk as bench/mpi/session.h says, but take whatever time they are told.

`fake_ranks.py RANKS NANOSECONDS [BEHAVIOUR]`: each operation seems to take that long, work as long
as it is said, and one after the other, unless the behaviour is `hides`. Other behaviours: `wrong`
results, `silent` after hello, `dies` at the first command, `dies-persistent` at the first of that
mode, `no-barrier`, `forgetful` (no memory above 1 KiB), `stubborn` (does not quit, and holds shared
memory with a name).
"""

import mmap
import os
import signal
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
            if words[0] == "quit" and behaviour != "stubborn":
                return
            if behaviour == "dies" or (behaviour == "dies-persistent" and words[1] == "persistent"):
                print("this library has had enough", flush=True)
                os._exit(3)
            if behaviour in {"silent", "stubborn"}:
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


def hold_segment() -> mmap.mmap:
    with open(f"/dev/shm/fake-segment-{os.getpid()}", "w+b") as file:
        file.truncate(4096)
        return mmap.mmap(file.fileno(), 4096)


def main(ranks: int, took: int, behaviour: str = "") -> None:
    segment = hold_segment() if behaviour == "stubborn" else None
    folder = Path(os.environ["CORYMB_PEER_FOLDER"])
    threads = [
        threading.Thread(target=serve, args=(folder, rank, took, behaviour))
        for rank in range(ranks)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if segment is not None:
        signal.pause()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])

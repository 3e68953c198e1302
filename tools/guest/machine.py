# SPDX-License-Identifier: Apache-2.0
"""Boots a machine of a shape in QEMU, runs one command in it and hands its output on."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import archive
import kernel
from shape import Shape

TRIES = 3
CPU = "max,vendor=GenuineIntel,monitor=off"
"""Idle CPUs must halt: an emulated monitor and mwait spins."""


class GuestError(Exception):
    """The machine did not come to the end of the command."""


@dataclass
class Guest:
    """A machine and how it is started."""

    shape: Shape
    memory: int = 2048
    """Mebibytes, dealt to the nodes."""
    cpu: str = CPU
    append: str = ""
    """Words for the kernel's command line, such as "isolcpus=2,3 nosmt"."""
    share: str = ""
    """A folder that the guest writes to; all others are read-only below a file system in memory."""
    kernel: str = "linux-image-amd64"
    seconds: float = 600
    """The machine is stopped after that time."""

    def run(self, command: list[str], cache: Path, out: BinaryIO, err: BinaryIO) -> int:
        """Exit status of the command. Its output goes to `out` and `err` as it comes."""
        if shutil.which("qemu-system-x86_64") is None:
            raise GuestError("no qemu-system-x86_64; install qemu-system-x86")
        cache.mkdir(parents=True, exist_ok=True)
        image, files = kernel.prepare(self.kernel, cache)
        end = time.monotonic() + self.seconds
        with tempfile.TemporaryDirectory(dir=cache) as work:
            place = Path(work)
            initrd = place / "initrd"
            initrd.write_bytes(files.read_bytes() + _command_file(command))
            # Emulated machines sometimes lock up while they boot: those panic, and are tried again.
            for _ in range(TRIES):
                for name in ("out", "err", "status", "log"):
                    (place / name).write_bytes(b"")
                self._boot(image, initrd, place, end, out, err)
                words = (place / "status").read_text().split()
                if len(words) == 2:
                    return int(words[1])
                if words or time.monotonic() >= end:
                    break
            log = (place / "log").read_text(errors="replace").splitlines()
            text = ["the machine stopped before the command ended", *log[-20:]]
            raise GuestError("\n".join(text))

    def _boot(
        self, image: Path, initrd: Path, place: Path, end: float, out: BinaryIO, err: BinaryIO
    ) -> None:
        machine = subprocess.Popen(self._line(image, initrd, place), stdin=subprocess.DEVNULL)
        followers = [
            threading.Thread(target=_follow, args=(place / name, stream, machine))
            for name, stream in (("out", out), ("err", err))
        ]
        try:
            for follower in followers:
                follower.start()
            machine.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            pass
        finally:
            machine.kill()
            machine.wait()
            for follower in followers:
                follower.join()

    def _line(self, image: Path, initrd: Path, place: Path) -> list[str]:
        words = ["console=ttyS0 panic=-1 softlockup_panic=1 quiet"]
        words += [f"share={self.share}"] if self.share else []
        line = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot"]
        line += ["-display", "none", "-machine", "q35", "-accel", "tcg", "-cpu", self.cpu]
        line += self.shape.qemu_options(self.memory)
        line += ["-serial", f"file:{place / 'log'}", "-kernel", str(image), "-initrd", str(initrd)]
        line += ["-append", " ".join([*words, self.append])]
        line += ["-device", "virtio-serial-pci"]  # Before all other virtio, hence vport0.
        for number, name in enumerate(("out", "err", "status"), 1):
            line += ["-chardev", f"file,id={name},path={place / name}"]
            line += ["-device", f"virtserialport,nr={number},chardev={name}"]
        line += _folder("root", "/", ",readonly=on,multidevs=remap")
        return line + (_folder("share", self.share, "") if self.share else [])


def _folder(name: str, path: str, options: str) -> list[str]:
    return [
        "-fsdev", f"local,id={name},path={path},security_model=none{options}",
        "-device", f"virtio-9p-pci,fsdev={name},mount_tag={name}",
    ]  # fmt: skip


def _command_file(command: list[str]) -> bytes:
    """An archive behind the first one; the kernel unpacks both."""
    path = os.environ.get("PATH", "/usr/bin:/bin")
    run = ["env", "-i", f"PATH={path}", "HOME=/run/guest/home", "LANG=C.UTF-8", "TERM=dumb"]
    script = f"""echo started >/dev/vport0p3
cd {shlex.quote(os.getcwd())} 2>/dev/null || cd /
{shlex.join(run + command)} </dev/null >/dev/vport0p1 2>/dev/vport0p2
echo $? >/dev/vport0p3
/run/guest/busybox poweroff -f
"""
    return archive.newc({"command": archive.program(script.encode())})


def _follow(file: Path, stream: BinaryIO, machine: subprocess.Popen[bytes]) -> None:
    """Copies what is added to the file until the machine has ended."""
    with file.open("rb") as source:
        while True:
            ended = machine.poll() is not None
            data = source.read()
            if data:
                stream.write(data)
                stream.flush()
            elif ended:
                return
            else:
                time.sleep(0.05)


def standard_output() -> tuple[BinaryIO, BinaryIO]:
    return sys.stdout.buffer, sys.stderr.buffer

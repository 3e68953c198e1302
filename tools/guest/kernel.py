# SPDX-License-Identifier: Apache-2.0
"""A kernel of the distribution and a first file system that mounts the host's files. Nothing is
installed: both lie in build/guest."""

from __future__ import annotations

import lzma
import re
import subprocess
import tempfile
from pathlib import Path

import archive

MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(ls /modules | sort); do insmod "/modules/$module"; done
plan9=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "$plan9,cache=loose,ro" root /lower
mount -t tmpfs -o size=75% upper /upper
mkdir /upper/data /upper/work
mount -t overlay -o lowerdir=/lower,upperdir=/upper/data,workdir=/upper/work overlay /merged
for folder in proc sys dev; do
    mkdir -p "/merged/$folder"
    mount --move "/$folder" "/merged/$folder"
done
cd /merged
mkdir -p run dev/pts dev/shm
mount -t devpts devpts dev/pts
mount -t tmpfs shm dev/shm
mount -t cgroup2 cgroup sys/fs/cgroup
mount -t tmpfs run run
mkdir -p run/guest/home
cp /bin/busybox /command run/guest/
if [ -n "$share" ]; then
    mkdir -p "/merged$share"
    mount -t 9p -o "$plan9" share "/merged$share"
fi
hostname guest
ip link set lo up
exec switch_root /merged /run/guest/busybox sh /run/guest/command
"""


def prepare(package: str, cache: Path) -> tuple[Path, Path]:
    """Kernel and first file system of this package of kernels, fetched if they are not there."""
    place = cache / package
    kernel, files = place / "kernel", place / "initramfs"
    if not files.exists():
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as work:
            tree = _unpacked(package, Path(work))
            image = next((tree / "boot").glob("vmlinuz-*"))
            kernel.write_bytes(image.read_bytes())
            new = Path(work) / "initramfs"
            new.write_bytes(_first_files(tree))
            new.rename(files)  # Last, and at once: what is there is whole.
    return kernel, files


def _unpacked(package: str, work: Path) -> Path:
    """The tree of the newest kernel that `package` depends on, with a static busybox."""
    depends = _run(["apt-cache", "depends", "--important", package], work)
    images = re.findall(r"Depends: (linux-image-\S+)", depends)
    _run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download",
          images[-1] if images else package, "busybox-static"], work)  # fmt: skip
    for file in work.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(file), "tree"], work)
    return work / "tree"


def _run(command: list[str], where: Path) -> str:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}; try apt-get update first")
    return done.stdout


def _first_files(tree: Path) -> bytes:
    busybox = next(tree.glob("**/bin/busybox"))
    folders = ("bin", "proc", "sys", "dev", "modules", "lower", "upper", "merged")
    files = {name: archive.folder() for name in folders}
    files["bin/busybox"] = archive.program(busybox.read_bytes())
    files["init"] = archive.program(INIT.encode())
    for number, content in enumerate(_in_order(tree)):
        files[f"modules/{number:02}.ko"] = archive.program(content)
    return archive.newc(files)


def _in_order(tree: Path) -> list[bytes]:
    """The modules, each after those that it needs. What is built into the kernel has no file."""
    paths = {path.name.split(".")[0].replace("-", "_"): path for path in tree.rglob("*.ko*")}
    order: dict[str, bytes] = {}

    def add(name: str) -> None:
        name = name.replace("-", "_")
        if name in order or name not in paths:
            return
        path = paths[name]
        content = path.read_bytes()
        if path.suffix == ".xz":
            content = lzma.decompress(content)
        needed = re.search(rb"\0depends=([^\0]*)\0", content)
        for other in needed[1].decode().split(",") if needed else []:
            add(other)
        order[name] = content

    for module in MODULES:
        add(module)
    return list(order.values())

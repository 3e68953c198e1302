# SPDX-License-Identifier: Apache-2.0
"""A small cluster on this machine: runs a command beside N nodes that share nothing but files.

    python3 bench/cluster/nodes.py --nodes 8 --rate 200mbit [--delay-us 500] -- COMMAND...

A node is a network, mount, IPC, UTS and PID namespace with its own /dev/shm, host name and, through
CORYMB_CLUSTER_AGENT, CPUs (one that nodes share where there are fewer of them than nodes); nodes
hang on one bridge by links of limited bandwidth. With --delay-us what a node sends is under way for
that long: a program (relay.c, compiled by cc) passes it on, since kernels may come without netem.
COMMAND runs beside them with the variables
CORYMB_CLUSTER_HOSTS (addresses, joined by commas), CORYMB_CLUSTER_AGENT (stands in for ssh),
CORYMB_CLUSTER_INTERFACE, CORYMB_CLUSTER_SUBNET, and for the agent CORYMB_CLUSTER_STATE and
CORYMB_CLUSTER_PRELOAD. Needs root, iproute2, util-linux and cc.

Everything lives in one outer set of namespaces whose first process is this program: when that
ends, for whatever reason, the kernel ends every process of every node, and links, mounts and
segments go with them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

INTERFACE = "corymb0"
SUBNET = "10.99.0"
STATE = Path("/dev/shm/nodes")
STATE_IN_NODE = Path("/mnt")  # There /dev/shm is another.
NODES_MOST = 64
START_LIMIT_S = 30.0


class StopSignalError(Exception):
    """A signal asks to end."""


def fail(text: str) -> None:
    sys.stderr.write(f"nodes.py: {text}\n")
    sys.exit(2)


def run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")


def outer(options: argparse.Namespace) -> int:
    """Starts this program again in namespaces of its own and ends it with itself."""
    if os.geteuid() != 0:
        fail("making network namespaces needs root")
    for program in ("ip", "tc", "unshare", "nsenter", "setpriv", "taskset", "cc"):
        if shutil.which(program) is None:
            fail(f"there is no {program}; install iproute2, util-linux and gcc")
    fresh = ["unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "--mount-proc"]
    again = [sys.executable, __file__, "--inside", "--nodes", str(options.nodes)]
    child = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *fresh, "--kill-child=KILL", *again,
         "--rate", options.rate, "--delay-us", str(options.delay_us), "--", *options.command]
    )  # fmt: skip

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(number: int, _frame: object) -> None:
        for later in signals:  # Ctrl-C comes from the terminal, then once more from who started us.
            signal.signal(later, signal.SIG_IGN)
        raise StopSignalError(number)

    for number in signals:
        signal.signal(number, stop)
    try:
        return child.wait()
    except StopSignalError as stopped:
        child.kill()
        child.wait()
        return 128 + int(stopped.args[0])


def inside(options: argparse.Namespace) -> int:
    """The first process of the outer namespaces: makes the nodes, runs the command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The outer process ends all of us.
    try:
        run("hostname", "front")
        run("mount", "-t", "tmpfs", "tmpfs", "/dev/shm")
        STATE.mkdir()
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", INTERFACE, "type", "bridge")
        run("ip", "addr", "add", f"{SUBNET}.254/24", "dev", INTERFACE)
        run("ip", "link", "set", INTERFACE, "up")
        compile_here("one_session", "-shared", "-fPIC")
        for number in range(options.nodes):
            make_node(number, options.nodes, rate_of(number, options.rate))
        ends = [f"to{number}" for number in range(options.nodes)]
        if options.delay_us > 0:
            start_relay(options.delay_us, options.nodes)
            ends = [f"tap{number}" for number in range(options.nodes)]
        for end in ends:
            run("ip", "link", "set", end, "master", INTERFACE, "up")
    except (OSError, RuntimeError) as error:
        fail(str(error))
    hosts = [address(number) for number in range(options.nodes)]
    variables = {
        "CORYMB_CLUSTER_HOSTS": ",".join(hosts),
        "CORYMB_CLUSTER_AGENT": str(Path(__file__).resolve().parent / "agent.sh"),
        "CORYMB_CLUSTER_INTERFACE": INTERFACE,
        "CORYMB_CLUSTER_SUBNET": f"{SUBNET}.0/24",
        "CORYMB_CLUSTER_STATE": str(STATE),
        "CORYMB_CLUSTER_PRELOAD": str(STATE_IN_NODE / "one_session"),
        "CORYMB_CACHE_DIR": str(STATE / "cache"),  # In each node: its network is its own.
    }
    try:
        status = subprocess.run(options.command, env=os.environ | variables, check=False).returncode
    except OSError as error:
        fail(f"cannot run {options.command[0]}: {error.strerror}")
    return status if status >= 0 else 128 - status


def address(number: int) -> str:
    return f"{SUBNET}.{number + 1}"


def rate_of(number: int, rates: str) -> str:
    """Of one for all nodes, or of a list whose last one holds for all further nodes."""
    each = rates.split(",")
    return each[min(number, len(each) - 1)]


def make_node(number: int, nodes: int, rate: str) -> None:
    name = f"node{number}"
    shell = (
        f"hostname {name} && mount --bind {STATE} {STATE_IN_NODE} "
        "&& mount -t tmpfs -o size=256m tmpfs /dev/shm && ip link set lo up "
        "&& echo ready && exec sleep infinity"
    )
    holder = subprocess.Popen(
        ["unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "--mount-proc",
         "--kill-child=KILL", "sh", "-c", shell], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    if holder.stdout.readline() != "ready\n":
        raise RuntimeError(f"{name} could not be made")
    first = first_child(holder.pid)
    link = ("ip", "link")
    run(*link, "add", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", first)
    run(*link, "set", f"to{number}", "up")
    run(*enter(first), "ip", "addr", "add", f"{address(number)}/24", "dev", "eth0")
    run(*enter(first), *link, "set", "eth0", "up")
    shape = ("root", "tbf", "rate", rate, "burst", "2kb", "latency", "400ms")
    run(*enter(first), "tc", "qdisc", "add", "dev", "eth0", *shape)
    run("tc", "qdisc", "add", "dev", f"to{number}", *shape)
    (STATE / address(number)).write_text(f"{first} {cpus_of(number, nodes)}\n")


def cpus_of(number: int, nodes: int) -> str:
    """Of a node: its share of the CPUs; where there are fewer than nodes, one that others have,
    too. So ranks see whether they have a CPU each."""
    cpus = sorted(os.sched_getaffinity(0))
    share = max(1, len(cpus) // nodes)
    own = [cpus[(number * share + i) % len(cpus)] for i in range(share)]
    return ",".join(map(str, own))


def start_relay(delay_us: int, nodes: int) -> None:
    """It ends with this program."""
    program = compile_here("relay")
    relay = subprocess.Popen(
        [str(program), str(delay_us), str(nodes)], stdout=subprocess.PIPE, text=True
    )
    assert relay.stdout is not None
    if relay.stdout.readline() != "ready\n":
        raise RuntimeError("the relay does not start")


def compile_here(name: str, *words: str) -> Path:
    """A file of this folder, for as long as this program runs."""
    source = Path(__file__).resolve().parent / f"{name}.c"
    run("cc", "-O2", *words, str(source), "-o", str(STATE / name))
    return STATE / name


def enter(pid: str) -> tuple[str, ...]:
    return ("nsenter", "-t", pid, "-n", "--")


def first_child(pid: int) -> str:
    """The first process of a node, seen from here."""
    limit = time.monotonic() + START_LIMIT_S
    while time.monotonic() < limit:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children:
            return children[0]
        time.sleep(0.01)
    raise RuntimeError("a node does not start")


def main() -> int:
    parser = argparse.ArgumentParser(description="Run a command beside nodes made of namespaces.")
    parser.add_argument("--nodes", type=int, default=8, help=f"1 to {NODES_MOST}")
    rates = "of each link and way, as tc writes it; a list: of each node, the last of all further"
    parser.add_argument("--rate", default="200mbit", help=rates)
    parser.add_argument("--delay-us", type=int, default=0, help="of what a node sends; 0: none")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    options.command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not options.command:
        fail("give a command behind --")
    if not 1 <= options.nodes <= NODES_MOST:
        fail(f"--nodes must be from 1 to {NODES_MOST}")
    if not 0 <= options.delay_us <= 1_000_000:
        fail("--delay-us must be from 0 to 1000000")
    if not re.fullmatch(r"[1-9][0-9]*[kmg]bit(,[1-9][0-9]*[kmg]bit)*", options.rate):
        fail(f"--rate '{options.rate}' must be a number and kbit, mbit or gbit, or several")
    return inside(options) if options.inside else outer(options)


if __name__ == "__main__":
    sys.exit(main())

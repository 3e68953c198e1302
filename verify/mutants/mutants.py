#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws mutants of the code whose invariants are asserted, and counts how many of those that
change a result are stopped by an assertion before a wrong result leaves a call.

A mutant flips a comparison, moves its bound or a literal 1 by one, drops a store, or swaps two
arguments. One build holds all mutants (mutant.hpp); the driver activates one by its number. A
mutant counts if the driver, without assertions, sees a wrong result. Those that crash, or end in an
error or by a deadline, let no wrong result out of a call, and are counted apart.
"""

import argparse
import contextlib
import dataclasses
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "verify" / "mutants"
# What is mutated, and the sources to be compiled anew for it: `together` share a translation unit.
MUTATED = (
    "team/engine.hpp", "team/compile.hpp", "team/program.hpp", "team/fabric.hpp",
    "team/member.cpp", "team/pending.cpp", "team/lane.cpp",
    "channel/slot_ring.hpp", "channel/publication_ring.hpp", "channel/exchange_line.hpp",
    "channel/signal_line.hpp", "channel/message_ring.hpp", "channel/broadcast_ring.hpp",
    "channel/first_comer.hpp",
    "multicast/core.hpp", "multicast/answers.hpp", "multicast/block.hpp",
    "base/arena.cpp",
)  # fmt: skip
TOGETHER = {
    "team": (
        "team/member.cpp", "team/pending.cpp", "team/lane.cpp", "team/pending_failure.cpp",
        "team/team_shared.cpp", "team/company.cpp", "team/own_lanes.cpp", "team/request.cpp",
        "team/team.cpp",
    ),
    "others": (
        "base/arena.cpp", "multicast/member.cpp", "multicast/shared.cpp", "multicast/token.cpp",
        "multicast/group.cpp",
    ),
    "mailboxes": ("message/mailbox.cpp",),
    "mailbox_state": ("message/mailbox_state.cpp",),
    "broadcasts": ("message/broadcast_ends.cpp",),
}  # fmt: skip
VERDICTS = {0: "nothing", 10: "assertion", 11: "wrong result", 12: "error", 13: "late"}
NOT_CALLS = {
    "if", "for", "while", "switch", "return", "sizeof", "alignof", "decltype", "catch", "noexcept",
    "static_cast", "reinterpret_cast", "const_cast", "defined", "commit",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Edit:
    begin: int
    end: int
    text: str


@dataclasses.dataclass(frozen=True)
class Mutant:
    number: int
    file: str
    line: int
    kind: str
    what: str


def without_comments(text: str) -> str:
    """Comments and the contents of strings become blanks, so that places stay."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    text = re.sub(pattern, blank, text, flags=re.DOTALL)
    return re.sub(r"^#.*$", blank, text, flags=re.MULTILINE)


def closing(code: str, at: int) -> int:
    """The place of the bracket that closes the one at `at`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth = 0
    for place in range(at, len(code)):
        if code[place] in pairs:
            depth += 1
        elif code[place] in pairs.values():
            depth -= 1
            if depth == 0:
                return place
    return len(code)


def left_alone(code: str) -> list[tuple[int, int]]:
    """What must not change: assertions, what is for them, and what compilers evaluate."""
    spans = []
    for match in re.finditer(r"\b(CORYMB_(?:DEBUG_)?ASSERT|static_assert|requires|if constexpr)\b"
                             r"\s*([({])", code):  # fmt: skip
        spans.append((match.start(), closing(code, match.start(2)) + 1))
    for match in re.finditer(r"\btemplate <[^;{]*?>\n", code):
        spans.append((match.start(), match.end()))
    # Functions for assertions, and constant ones.
    names = "announces|holds|names|count_of|is_connected|is_edge|may_finish|may_give_up|is_zero"
    names += "|bytes_of_chunks|visit"
    for match in re.finditer(rf"\b(?:{names})\([^;{{]*\{{", code):
        spans.append((match.start(), closing(code, match.end() - 1) + 1))
    for match in re.finditer(r"\bconstexpr\b[^;{]*([;{])", code):
        end = match.end() if match[1] == ";" else closing(code, match.end() - 1) + 1
        spans.append((match.start(), end))
    # The layout of a block is computed in its members' initialisers.
    return spans


def bodies(code: str) -> list[tuple[int, int]]:
    """Where statements are: the bodies of functions."""
    found: list[tuple[int, int]] = []
    head = r"\)\s*(?:const\s*)?(?:noexcept\s*)?(?:override\s*)?(?:->[^{;]*)?"
    for match in re.finditer(head + r"(?::[^{;]*(?:\{[^{}]*\}[^{;]*)*)?\{", code):
        begin = match.end() - 1
        if not found or begin > found[-1][1]:
            found.append((begin, closing(code, begin)))
    return found


class Sites:
    """The places of one file that can be mutated."""

    def __init__(self, file: str, text: str, first: int) -> None:
        self.file = file
        self.text = text
        self.code = without_comments(text)
        self.mutants: list[Mutant] = []
        self.edits: list[tuple[Edit, list[int]]] = []
        self.next = first
        self._alone = left_alone(self.code)
        self._bodies = bodies(self.code)
        self._find()

    def _may(self, begin: int, end: int) -> bool:
        return any(a < begin and end < b for a, b in self._bodies) and not any(
            a < end and begin < b for a, b in self._alone
        )

    def _add(self, place: int, kind: str, what: str) -> int:
        number = self.next
        self.next += 1
        line = self.code.count("\n", 0, place) + 1
        self.mutants.append(Mutant(number, self.file, line, kind, " ".join(what.split())))
        return number

    def _line_of(self, place: int) -> str:
        begin = self.text.rfind("\n", 0, place) + 1
        return self.text[begin : self.text.find("\n", place)].strip()

    def _find(self) -> None:
        names = {"<": "less", "<=": "at_most", ">": "greater", ">=": "at_least", "==": "equal",
                 "!=": "differs"}  # fmt: skip
        for match in re.finditer(r"(?<= )(<=|>=|==|!=|<|>)(?=[ \n])", self.code):
            if not self._may(match.start(), match.end()):
                continue
            token = match[1]
            line = self._line_of(match.start())
            numbers = [self._add(match.start(), "flipped", line)]
            if token in ("<", "<=", ">", ">="):
                numbers.append(self._add(match.start(), "off by one", line))
            call = f"{token} ::corymb::mutants::{names[token]}({numbers[0]}, {numbers[-1]}) {token}"
            self.edits.append((Edit(match.start(), match.end(), call), numbers))
        for match in re.finditer(r"(?<=[+-] )1(?=[ ;,)\]])", self.code):
            if self._may(match.start(), match.end()):
                number = self._add(match.start(), "off by one", self._line_of(match.start()))
                call = f"::corymb::mutants::one({number})"
                self.edits.append((Edit(match.start(), match.end(), call), [number]))
        self._find_stores()
        self._find_swaps()

    def _find_stores(self) -> None:
        place = r"(?:\*)?[a-z_]\w*(?:(?:\.|->)\w+|\[[^\[\]]*\]|\(\w*\))*"
        store = rf"(?:\+\+{place}|--{place}|{place} (?:=|\+=|-=|\|=|&=) [^;{{}}]*"
        store += rf"|{place}(?:\.|->)(?:store|put|fetch_\w+|exchange)\([^;{{}}]*\)"
        store += r"|(?:std::memcpy|copy_bytes|commit)\([^;{}]*\))"
        for match in re.finditer(rf"(?<=[;{{}}])\s*({store});", self.code):
            begin, end = match.start(1), match.end()
            if self._may(begin, end) and "operands_->" not in match[1][:0]:
                number = self._add(begin, "dropped", match[1])
                self.edits.append((Edit(begin, begin, f"if (!::corymb::mutants::is({number})) "),
                                   [number]))  # fmt: skip

    def _find_swaps(self) -> None:
        for match in re.finditer(r"(?<![\w.>:])((?:[a-z_]\w*(?:\.|->|::))*[a-z_]\w*)\(", self.code):
            name = match[1]
            end = closing(self.code, match.end() - 1)
            inner = self.code[match.end() : end]
            before = re.search(r"([\w>*&]+)\s+$", self.code[: match.start()][-40:])
            if before and before[1] not in ("return", "else", "throw"):
                continue  # A declaration.
            if name.split("::")[-1] in NOT_CALLS or not self._may(match.start(), end):
                continue
            if re.search(r"[{}\[\]\"]|memory_order|nullptr|\w \w", inner):
                continue
            arguments = self._split(match.end(), end)
            if len(arguments) < 2 or any("mutants::" in a for a in arguments):
                continue
            for i in range(len(arguments) - 1):
                if re.fullmatch(r"[\d.]+|true|false", arguments[i] + arguments[i + 1]):
                    continue
                if {arguments[i], arguments[i + 1]} & {"0", "false", "true"}:
                    continue
                number = self._add(match.start(), "swapped", f"{name}({', '.join(arguments)})")
                inside = [*arguments[:i], "a_", "b_", *arguments[i + 2 :]]
                call = f"{name}({', '.join(inside)})"
                text = (f"::corymb::mutants::swapped<{number}>([&](auto&& a_, auto&& b_) "
                        f"-> decltype({call}) {{ return {call}; }}, "
                        f"{arguments[i]}, {arguments[i + 1]})")  # fmt: skip
                self.edits.append((Edit(match.start(), end + 1, text), [number]))
                break

    def _split(self, begin: int, end: int) -> list[str]:
        parts, depth, last = [], 0, begin
        for place in range(begin, end):
            depth += self.code[place] in "(["
            depth -= self.code[place] in ")]"
            if self.code[place] == "," and depth == 0:
                parts.append(" ".join(self.code[last:place].split()))
                last = place + 1
        parts.append(" ".join(self.code[last:end].split()))
        return parts

    def written(self, without: set[int]) -> str:
        """The file with all mutants but those of `without`."""
        edits = [edit for edit, numbers in self.edits if not set(numbers) & without]
        # A swap holds its arguments' text, so nothing inside it is edited.
        wide = [edit for edit in edits if edit.end - edit.begin > 2]
        kept = [
            edit for edit in edits
            if not any(o is not edit and o.begin <= edit.begin and edit.end <= o.end for o in wide)
        ]  # fmt: skip
        text = self.text
        for edit in sorted(kept, key=lambda e: (e.begin, e.end), reverse=True):
            text = text[: edit.begin] + edit.text + text[edit.end :]
        self.active = {n for e, numbers in self.edits if e in kept for n in numbers}
        return text


class Driver:
    """A driver with the processes that it forks: a group, of which nothing may stay behind."""

    _under_way: ClassVar[set[int]] = set()
    _lock = threading.RLock()  # A signal may come while it is held.

    def __init__(self, command: list[str]) -> None:
        with Driver._lock:
            self._process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                errors="replace", start_new_session=True,
            )  # fmt: skip
            Driver._under_way.add(self._process.pid)

    def errors(self, seconds: float) -> str | None:
        """What it has written to its standard error; None: it was not through in time."""
        try:
            return self._process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            return None
        finally:
            self._end()

    @property
    def returncode(self) -> int:
        return self._process.returncode

    def _end(self) -> None:
        Driver._kill(self._process.pid)
        self._process.communicate()
        with Driver._lock:
            Driver._under_way.remove(self._process.pid)

    @staticmethod
    def _kill(group: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    @staticmethod
    def end_all(number: int, _frame: object) -> None:
        """For SIGINT and SIGTERM."""
        with Driver._lock:
            for group in Driver._under_way:
                Driver._kill(group)
            os._exit(128 + number)


class Build:
    def __init__(self, folder: Path, library: Path, compiler: str, jobs: int) -> None:
        self.folder = folder
        self.library = library
        self.compiler = compiler.split()
        self.jobs = jobs
        self.files: list[Sites] = []
        self.without: set[int] = set()  # Those that do not compile.
        self.swaps: set[int] = set()  # Those of two arguments whose types allow it.
        number = 1
        for name in MUTATED:
            sites = Sites(name, (ROOT / "src" / name).read_text(), number)
            number = sites.next
            self.files.append(sites)

    def mutants(self) -> Iterator[Mutant]:
        for sites in self.files:
            yield from (
                m for m in sites.mutants
                if m.number in sites.active and (m.kind != "swapped" or m.number in self.swaps)
            )  # fmt: skip

    def _write(self, without: set[int]) -> None:
        copy = self.folder / "src"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(ROOT / "src", copy)
        for sites in self.files:
            text = sites.written(without)
            head = '#include "mutant.hpp"\n#line 1\n'
            mark = "#pragma once\n" if "#pragma once\n" in text else ""
            if mark:
                place = text.index(mark) + len(mark)
                line = text.count("\n", 0, place) + 1
                text = f'{text[:place]}#include "mutant.hpp"\n#line {line}\n{text[place:]}'
            else:
                text = head + text
            (copy / sites.file).write_text(text)
        shutil.copy(HERE / "assert.hpp", copy / "base" / "assert.hpp")
        for name, members in TOGETHER.items():
            includes = "".join(f'#include "{member}"\n' for member in members)
            (self.folder / f"{name}.cpp").write_text(includes)
        shutil.copy(HERE / "driver.cpp", self.folder / "driver.cpp")

    def _compile(self, name: str, *, only_check: bool) -> str:
        command = [
            *self.compiler, "-std=c++20", "-w", "-pthread", "-O1", "-g0", "-DFMT_SHARED",
            f"-I{self.folder}/src", f"-I{HERE}", f"-I{ROOT}/include",
            *(["-fsyntax-only"] if only_check else ["-c", "-o", str(self.folder / f"{name}.o")]),
            str(self.folder / f"{name}.cpp"),
        ]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        return "" if ran.returncode == 0 else ran.stderr

    def _blamed(self, errors: str) -> set[int]:
        """Mutants on the lines that the compiler names: those do not compile."""
        blamed = set()
        for match in re.finditer(r"src/([\w/]+\.[ch]pp):(\d+):", errors):
            for sites in self.files:
                if sites.file == match[1]:
                    blamed |= {m.number for m in sites.mutants if m.line == int(match[2])}
        # A call is named where it is written, or by the compiler that fills in its template.
        for match in re.finditer(r"swapped<(\d+)>|with int number = (\d+);", errors):
            blamed.add(int(match[1] or match[2]))
        return blamed

    def make(self) -> None:
        names = [*TOGETHER, "driver"]
        for _ in range(12):
            self._write(self.without)
            with ThreadPoolExecutor(self.jobs) as pool:
                found = list(pool.map(lambda n: self._compile(n, only_check=False), names))
            errors = "\n".join(found)
            if not errors.strip():
                break
            blamed = self._blamed(errors) - self.without
            if not blamed:
                sys.exit(f"the copy with mutants does not compile:\n{errors[:3000]}")
            self.without |= blamed
            print(f"{len(self.without)} mutants do not compile", flush=True)
        objects = [str(self.folder / f"{name}.o") for name in names]
        libraries = ["-lfmt", "-lhwloc", "-lmd", "-ldl"]
        command = [*self.compiler, "-pthread", *objects, str(self.library), *libraries, "-o",
                   str(self.folder / "driver")]  # fmt: skip
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"the driver does not link:\n{ran.stderr[:3000]}")

    def list_swaps(self) -> None:
        command = [str(self.folder / "driver"), "0", "swaps"]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        self.swaps = {int(number) for number in ran.stdout.split()}

    def run(self, number: int, mode: str, seconds: float) -> str:
        ran = Driver([str(self.folder / "driver"), str(number), mode])
        errors = ran.errors(seconds)
        if errors is None:
            return "hang"
        verdict = VERDICTS.get(ran.returncode, f"crash ({ran.returncode})")
        text = errors.strip().splitlines()[-1:] if verdict == "assertion" else []
        return f"{verdict}: {text[0]}" if text else verdict


@dataclasses.dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    without: str  # Assertions.
    always: str
    everything: str

    @property
    def changes(self) -> bool:
        """Without assertions a wrong result leaves a call."""
        return self.without == "wrong result"

    @property
    def ends(self) -> bool:
        """Without assertions the program crashes, or the call ends in an error or by a deadline."""
        return self.without not in ("nothing", "wrong result")


def judge(build: Build, mutant: Mutant, seconds: float) -> Outcome:
    without = build.run(mutant.number, "none", seconds)
    if without in ("late", "hang"):  # Once may be the fault of a busy machine.
        without = build.run(mutant.number, "none", seconds)
    if without == "nothing":
        return Outcome(mutant, without, "", "")
    always = build.run(mutant.number, "always", seconds)
    everything = build.run(mutant.number, "all", seconds)
    return Outcome(mutant, without, always, everything)


def draw(
    build: Build, seed: int, count: int, seconds: float, jobs: int, only: set[int]
) -> list[Outcome]:
    """Mutants in the order of the seed until `count` of them change a result; of those in `only`,
    if there are any."""
    order = [mutant for mutant in build.mutants() if not only or mutant.number in only]
    random.Random(seed).shuffle(order)
    outcomes: list[Outcome] = []
    while order and sum(o.changes for o in outcomes) < count:
        missing = count - sum(o.changes for o in outcomes)
        batch, order = order[: max(jobs, missing)], order[max(jobs, missing) :]
        with ThreadPoolExecutor(jobs) as pool:
            for outcome in pool.map(lambda m: judge(build, m, seconds), batch):
                outcomes.append(outcome)
                m = outcome.mutant
                print(f"{m.file}:{m.line}: {m.kind}: {m.what}: {outcome.without}"
                      f" / {outcome.everything}", flush=True)  # fmt: skip
    # The last batch may have found more than were asked for.
    while sum(o.changes for o in outcomes) > count:
        outcomes.pop()
    return outcomes


def row(outcome: Outcome) -> list[str]:
    mutant = outcome.mutant
    code = mutant.what.replace("|", "\\|")
    code = code if len(code) <= 60 else code[:57] + "..."
    place = f"`{mutant.file}:{mutant.line}`"
    return [place, mutant.kind, f"`{code}`", outcome.without, stopped_by(outcome)]


def is_stopped(verdict: str) -> bool:
    return verdict.startswith("assertion")


def stopped_by(outcome: Outcome) -> str:
    if is_stopped(outcome.always):
        return "always on"
    return "debug" if is_stopped(outcome.everything) else "-"


def section(seed: int, outcomes: list[Outcome]) -> dict[str, Any]:
    """For docs/results/data/mutants.json."""
    changing = [o for o in outcomes if o.changes]
    ending = [o for o in outcomes if o.ends]
    stopped = Counter(stopped_by(o) for o in changing)
    table = {
        "columns": ["place", "mutant", "code", "without assertions", "stopped by"],
        "rows": [row(o) for o in sorted(changing, key=lambda o: (o.mutant.file, o.mutant.line))],
    }
    counts = (
        f"{len(outcomes)} mutants were drawn, {len(changing)} change a result. Assertions stop"
        f" {len(changing) - stopped['-']} of these, those of every build {stopped['always on']}."
    )
    others = (
        f"{len(ending)} crash, or end in an error or by a deadline. Assertions are first at"
        f" {sum(stopped_by(o) != '-' for o in ending)}. The others change nothing that the"
        " driver sees."
    )
    return {"title": f"Seed {seed}", "blocks": [counts, table, others]}


def save(file: Path, sections: list[dict[str, Any]]) -> None:
    """The record with the sections in place of those that it had."""
    sys.path += [str(ROOT / "tools" / "results"), str(ROOT / "bench" / "papers")]
    import render
    import take

    record = render.load(file)
    record["measured"] = take.origin(record["measured"]["command"])
    record["sections"] = sections
    take.save(file, record)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--library", type=Path, required=True, help="libcorymb_internal.a")
    parser.add_argument("--compiler", default="c++", help="command, may hold options")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--count", type=int, default=60, help="mutants that change a result")
    parser.add_argument("--least", type=int, default=50, help="to be stopped of so many")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="the record that gets the sections")
    parser.add_argument("--reuse", action="store_true", help="the driver that was built last")
    parser.add_argument("--mutants", type=int, nargs="*", help="only these, by number")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, Driver.end_all)
    build = Build(arguments.folder, arguments.library, arguments.compiler, arguments.jobs)
    if arguments.reuse:
        without = {int(n) for n in (arguments.folder / "without").read_text().split()}
        for sites in build.files:
            sites.written(without)
    else:
        build.make()
        (arguments.folder / "without").write_text(" ".join(map(str, build.without)))
    build.list_swaps()
    print(f"{len(list(build.mutants()))} mutants", flush=True)
    begin = time.monotonic()
    for mode in ("none", "all"):
        verdict = build.run(0, mode, 300)
        if verdict != "nothing":
            sys.exit(f"without a mutant the driver says, with assertions: {mode}: {verdict}")
    seconds = 2 * (time.monotonic() - begin) + 5
    sections, failed = [], False
    for seed in arguments.seeds:
        only = set(arguments.mutants or ())
        outcomes = draw(build, seed, arguments.count, seconds, arguments.jobs, only)
        changing = [o for o in outcomes if o.changes]
        stopped = [o for o in changing if stopped_by(o) != "-"]
        print(f"seed {seed}: {len(stopped)} of {len(changing)} are stopped", flush=True)
        failed |= len(stopped) < arguments.least * len(changing) // arguments.count
        sections.append(section(seed, outcomes))
    if arguments.out:
        save(arguments.out, sections)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Weakens the lock-free headers, one place at a time, and expects the explorer to notice each.

Every memory order that is not relaxed is replaced by the next weaker ones, every fence of an
asymmetric pair and every wake-up is removed, and a few conditions are made wrong (SEEDED). The
mutant shadows the header for one compilation of the worlds that check it. A mutant that survives is
an order that is not needed or a world that is missing; it fails the run.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Header below src/, or bench/ -> worlds that check it, the quickest first.
WORLDS = {
    "channel/signal_line.hpp": ["signal_line"],
    "channel/slot_ring.hpp": ["slot_ring"],
    "channel/exchange_line.hpp": ["exchange_line"],
    "channel/publication_ring.hpp": ["publication"],
    "channel/message_ring.hpp": ["message_ring"],
    "channel/notification_vector.hpp": ["notification"],
    "channel/synchronised_ring.hpp": ["synchronised_ring"],
    "channel/broadcast_ring.hpp": ["broadcast_ring"],
    "channel/event_count.hpp": ["event_count"],
    "channel/event_counts.hpp": ["event_counts"],
    "channel/copy_gate.hpp": ["copy_gate"],
    "channel/first_comer.hpp": ["first_comer"],
    "messages/fast_forward.hpp": ["fast_forward"],
    "team/central_barrier.hpp": ["central_barrier"],
    "team/engine.hpp": ["engine", "lanes"],
    "multicast/core.hpp": ["multicast", "multicast_gather", "multicast_death"],
    "multicast/counters.hpp": ["multicast", "multicast_gather", "multicast_death"],
    "multicast/answers.hpp": ["multicast_answers"],
    "remote/replica.hpp": ["replica"],
}

WEAKER = {
    "acquire": ["relaxed"],
    "release": ["relaxed"],
    "acq_rel": ["acquire", "release"],
    "seq_cst": ["acq_rel"],
}

# (header, text, replacement): wrong conditions and wrong sequences that are not orders.
SEEDED = [
    (
        "team/engine.hpp",
        "activation.step = static_cast<std::size_t>(step - first);",
        "activation.step = step == last ? program.steps.size() : 0;",
    ),
    (
        "team/engine.hpp",
        "return static_cast<std::size_t>(step - program.steps.data());",
        "return 0;",
    ),
    ("channel/slot_ring.hpp", "return sent_ - credited_ < slots_;",
     "return sent_ - credited_ <= slots_;"),
    ("channel/slot_ring.hpp", "sent_ + 1 - slots_;", "sent_ - slots_;"),
    ("channel/slot_ring.hpp", "if (ahead > 0)", "if (ahead >= 0x7fffffff)"),
    ("channel/exchange_line.hpp", "value >= least;", "value + (1U << 16U) >= least;"),
    ("channel/exchange_line.hpp", "own_->payload[number % 2]", "own_->payload[0]"),
    ("channel/exchange_line.hpp", "return other_->payload[number % 2]",
     "return other_->payload[0]"),
    (
        "channel/publication_ring.hpp",
        "published - credited_ >= Slots",
        "published - credited_ > Slots",
    ),
    ("channel/publication_ring.hpp", "std::min(least, seen)", "seen"),
    ("channel/message_ring.hpp", "return sent_ - credited_ < slots_.count() ||",
     "return sent_ - credited_ <= slots_.count() ||"),
    ("channel/message_ring.hpp", "enough = sent_ + 1 - slots_.count();",
     "enough = sent_ - slots_.count();"),
    ("channel/message_ring.hpp", "static_cast<std::uint32_t>(consumed_ + 1);",
     "static_cast<std::uint32_t>(consumed_ + 1) || word != 0;"),
    ("channel/notification_vector.hpp", "fetch_or(bit", "exchange(bit"),
    ("channel/synchronised_ring.hpp", "sent_ - credited_ < quota_", "sent_ - credited_ <= quota_"),
    ("channel/synchronised_ring.hpp", "sent_ + 1 - quota_", "sent_ - quota_"),
    ("channel/synchronised_ring.hpp", "senders * quota, bytes", "senders * quota / 2, bytes"),
    ("channel/broadcast_ring.hpp", "published_ - credited_ >= slots_",
     "published_ - credited_ > slots_"),
    ("channel/broadcast_ring.hpp", "Ring::word_of(published_, Ring::length_while_written)",
     "Ring::word_of(published_ - slots_.count(), 16)"),
    ("channel/broadcast_ring.hpp", "now != seen", "now == 0"),
    ("channel/broadcast_ring.hpp", "position_ = std::max(position_, bound);", ""),
    ("channel/broadcast_ring.hpp", "if (lag > most)", "if (lag != 0)"),
    ("channel/broadcast_ring.hpp", "((word & tag_mask) / 4 + 1)", "((word & tag_mask) / 4)"),
    ("channel/first_comer.hpp", "if (decided / 2 < call)", "if (decided / 2 <= call)"),
    ("channel/first_comer.hpp", "== all;", "+ 1 >= all;"),
    ("channel/first_comer.hpp", "is_end = decided == 2 * call + 1;", "is_end = decided % 2 == 1;"),
    ("channel/first_comer.hpp", "facts_[parity() * ranks_ + rank_];", "facts_[rank_];"),
    ("channel/first_comer.hpp", "== all;", ">= ranks_;"),
    ("channel/event_count.hpp", "const bool is_done = done();", "const bool is_done = false;"),
    ("channel/event_counts.hpp", "const bool is_done = done();", "const bool is_done = false;"),
    ("channel/event_counts.hpp",
     "own_) {\n            words_.push_back(one->word_to_sleep_on(one->announce()));",
     "own_) {\n            words_.push_back(one->word_to_sleep_on(0));"),
    ("channel/event_counts.hpp", "Env::futex_wait_any(words_, timeout_ns)",
     "Env::futex_wait_any(Words(words_.begin(), words_.begin() + 1), timeout_ns)"),
    ("channel/event_count.hpp", "word_.store(key, std::memory_order_relaxed);", ""),
    ("channel/event_count.hpp", "word_.fetch_or(anybody, std::memory_order_relaxed) | anybody",
     "(word_.exchange(anybody, std::memory_order_relaxed), anybody)"),
    ("channel/event_count.hpp", "word - 1 : (word | anybody) + 1;", "word - 1 : 0;"),
    ("channel/event_count.hpp", "takes_one ? word - 1 :", "takes_one ? word :"),
    ("channel/event_count.hpp", "awaited > wake_after(1) && awaited != anybody",
     "awaited > wake_after(1)"),
    ("channel/event_count.hpp", "awaited > wake_after(1)", "awaited > no_wakers"),
    ("channel/event_count.hpp", "if (awaited.key() != key)", "if (false)"),
    ("channel/event_count.hpp", "awaited >= no_wakers || awaited == own", "awaited == own"),
    ("channel/event_count.hpp", "awaited >= no_wakers || awaited == own", "awaited >= no_wakers"),
    ("channel/event_count.hpp", "moved == 0 ? first->rouse() :", "moved != 0 ? void() :"),
    ("channel/event_count.hpp", "moved += moved == 0 ? 0 : first->move_to(moved_);", ""),
    ("channel/event_count.hpp", ": Env::futex_wake(moved_, moved, reach_);", ": void();"),
    ("channel/event_count.hpp", "Env::futex_wake(word_, std::numeric_limits<int>::max(), reach_);",
     ""),
    ("channel/event_count.hpp", "std::numeric_limits<int>::max(), reach_", "1, reach_"),
    ("team/central_barrier.hpp", "before >> 32 == update", "before >> 32 <= update + 1"),
    ("team/central_barrier.hpp", "const std::uint32_t next = phase + 1;",
     "const std::uint32_t next = phase + 1;"
     " phase_.store(next, std::memory_order_release);"),
    ("multicast/core.hpp", "own.phase.store(2 * number - 1, std::memory_order_relaxed);", ""),
    ("multicast/counters.hpp", "count_down(fields.left(slot), bias - told,",
     "count_down(fields.left(slot), bias - told + 1,"),
    ("multicast/counters.hpp", "count_down(of.answers, bias - told - 1,",
     "count_down(of.answers, bias - told,"),
    ("multicast/counters.hpp", "if (all != 1)", "if (false)"),
    ("multicast/counters.hpp", "if (before + 1 != all)", "if (before != 0)"),
    ("multicast/counters.hpp", "tally.store(0, std::memory_order_relaxed);", ""),
    ("multicast/counters.hpp", "fields.tally(slot, node).store(0, std::memory_order_relaxed);", ""),
    ("multicast/answers.hpp", "if (follow(fields, slot, call.number, call.next, call.end))",
     "static_cast<void>(follow(fields, slot, call.number, call.next, call.end)); if (true)"),
    ("multicast/answers.hpp", "answer(fields, slot, p, call_of(p, slot), p + 1);",
     "answer(fields, slot, p, call_of(p, slot), call_of(p, slot).end);"),
    ("multicast/answers.hpp", "if (!is_of(seen, number))", "if (seen == 0)"),
    ("multicast/answers.hpp", "call = {task.number, p + 1,", "call = {task.number, task.end,"),
    ("multicast/core.hpp", "own.forwarder.replace(0, claim_of(p), std::memory_order_relaxed)",
     "true"),
    ("multicast/core.hpp", "counters_.arrive(fields_, slot, task.parent);", ""),
    ("multicast/core.hpp", "counters_.gathers() ? task.parent : p", "p"),
    ("multicast/core.hpp", "while (is_named(slot, p) && !is_done(slot, p, phase / 2))",
     "while (false)"),
    ("multicast/core.hpp", "word.fetch_sub(bit_of(p), std::memory_order_acq_rel);", ""),
    ("multicast/core.hpp", "to.posted.load(std::memory_order_relaxed) != task.number", "true"),
    ("multicast/core.hpp", "if (own.posted.load(std::memory_order_acquire) <=",
     "if (own.posted.load(std::memory_order_acquire) <"),
    ("multicast/core.hpp", "counters_.answer(fields_, slot, p, at, task.parent);",
     "own.done.store(task.number, std::memory_order_release);"
     " counters_.answer(fields_, slot, p, at, task.parent);"),
    ("multicast/core.hpp", "of.forwarder.replace(forwarder, claim_of(self),",
     "of.forwarder.replace(0, claim_of(self),"),
    ("multicast/core.hpp", "own.lost.store(phase / 2, std::memory_order_relaxed);", ""),
    ("multicast/core.hpp", "to.forwarder.store(0, std::memory_order_relaxed);", ""),
    ("remote/replica.hpp", "mark != Mark::starting && mark", "mark"),
    ("remote/replica.hpp", "mark != Mark::reading + hidden;", "true;"),
    ("remote/replica.hpp", "place != Place::asking && place <= seen", "place != Place::asking"),
    ("remote/replica.hpp", "taken == Taken::whole ? Lock::free : Lock::broken", "Lock::free"),
    ("remote/replica.hpp", "if (taken == Taken::whole) {", "if (true) {"),
    ("remote/replica.hpp", "            has = position_of(shown);", ""),
    ("remote/replica.hpp", "&& has >= shown;", ";"),
    ("remote/replica.hpp", "head.replica == replica_ &&", ""),
    ("remote/replica.hpp", "progress < least &&", "progress > least &&"),
    ("remote/replica.hpp", ".store(shown, std::memory_order_release);",
     ".store(tail, std::memory_order_release);"),
    ("remote/replica.hpp", "end - least_ <= log_->capacity()",
     "end - least_ <= log_->capacity() + 24"),
    ("remote/replica.hpp", "if (head.replica != EntryHead::nobody) {", "if (true) {"),
    ("remote/replica.hpp", "object.copy(instance_of(shown), hidden);",
     "object.copy(instance_of(shown), hidden); static_cast<void>(append(waiter, object));"),
]  # fmt: skip

ORDER = re.compile(r"memory_order_(acquire|release|acq_rel|seq_cst)\b")
FENCE = re.compile(r"Env::(?:light|heavy|full)_fence\(\w*\);")
WAKE = re.compile(r"^ *[\w.>-]*(?:wake_if_parked\(\)|wake_readers\(end\));", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    header: str
    line: int
    what: str
    text: str  # of the whole header


def mutants_of(header: str) -> list[Mutant]:
    """All of one header, in the order of the file."""
    inside = next(ROOT / root for root in ("src", "bench") if (ROOT / root / header).exists())
    text = (inside / header).read_text(encoding="utf-8")
    # Comments name orders too: they are blanked, so that positions stay.
    code = re.sub(r"//[^\n]*", lambda match: " " * len(match[0]), text)
    found = []

    def add(start: int, end: int, replacement: str, what: str) -> None:
        line = text.count("\n", 0, start) + 1
        found.append(Mutant(header, line, what, text[:start] + replacement + text[end:]))

    for match in ORDER.finditer(code):
        for weaker in WEAKER[match[1]]:
            add(match.start(1), match.end(1), weaker, f"{match[1]} -> {weaker}")
    for pattern in (FENCE, WAKE):
        for match in pattern.finditer(code):
            add(match.start(), match.end(), ";", f"no {match[0].strip()}")
    for name, old, new in SEEDED:
        if name == header:
            if code.count(old) != 1:
                sys.exit(f"{header}: '{old}' of SEEDED occurs {code.count(old)} times, not once")
            start = code.index(old)
            add(start, start + len(old), new, f"{old} -> {new or 'nothing'}")
    return sorted(found, key=lambda mutant: mutant.line)


# What no mutant changes, parsed once: half of the time of a mutant is compilation.
PRELUDE = """
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
"""


class Judge:
    """Compiles worlds against a mutant and runs them."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        places = ("verify", "src", "bench", "include", "tests/unit")
        self.include = [f"-I{ROOT / place}" for place in places]
        self.compiler = [*arguments.compiler.split(), "-std=c++20", "-O1"]
        self.libraries = arguments.library
        self.seconds = arguments.seconds
        prelude = folder / "prelude.hpp"
        prelude.write_text(PRELUDE, encoding="utf-8")
        # clang looks for .pch, g++ for .gch; a compiler that takes neither parses the text.
        for ending in (".pch", ".gch"):
            subprocess.run(
                [*self.compiler, *self.include, "-x", "c++-header", str(prelude), "-o",
                 f"{prelude}{ending}"], check=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        self.compiler += ["-include", str(prelude)]

    def verdict(self, header: str, text: str | None) -> str:
        """Gives "survived", or "caught: why", or "broken: why". No text: the header as it is."""
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            if text is not None:
                shadow = Path(folder, header)
                shadow.parent.mkdir()
                shadow.write_text(text, encoding="utf-8")
            for world in WORLDS[header]:
                verdict = self._explore(Path(folder), world)
                if verdict != "survived":
                    return verdict
        return "survived"

    def _explore(self, folder: Path, world: str) -> str:
        program = folder / f"{world}_world"
        command = [*self.compiler, f"-I{folder}", *self.include]
        command += [str(ROOT / f"verify/worlds/{world}_world.cpp"), *self.libraries]
        built = subprocess.run(
            [*command, "-o", str(program)], capture_output=True, text=True, check=False
        )
        if built.returncode != 0:
            return f"broken: it does not compile\n{built.stderr[:2000]}"
        try:
            ran = subprocess.run(
                [str(program), "--holds", "--quick"],
                capture_output=True, text=True, check=False, timeout=self.seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"broken: no verdict within {self.seconds} s"
        if ran.returncode == 0:
            return "survived"
        if ran.returncode != 1:
            return f"broken: the world ended with status {ran.returncode}"
        why = re.search(r"^VIOLATED.*\n +(.*)$", ran.stdout, re.MULTILINE)
        return f"caught: {why[1]}" if why else f"broken: {ran.stdout[:500]}"


def judge_all(judge: Judge, headers: list[str], mutants: list[Mutant], jobs: int) -> list[str]:
    """Prints each verdict; returns the headers of those that are not as they should be."""
    failed = []
    with ThreadPoolExecutor(jobs) as pool:
        for header, verdict in zip(
            headers, pool.map(lambda header: judge.verdict(header, None), headers), strict=True
        ):
            if verdict != "survived":
                print(f"{header} itself: {verdict}")
                failed.append(header)
        verdicts = pool.map(lambda mutant: judge.verdict(mutant.header, mutant.text), mutants)
        for mutant, verdict in zip(mutants, verdicts, strict=True):
            print(f"{mutant.header}:{mutant.line}: {mutant.what}: {verdict}", flush=True)
            if not verdict.startswith("caught"):
                failed.append(mutant.header)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", default="c++", help="command, may hold options")
    parser.add_argument("--library", action="append", required=True, help="explorer and library")
    parser.add_argument("--header", action="append", choices=WORLDS, help="only these headers")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=400, help="for the worlds of one mutant")
    arguments = parser.parse_args()
    headers = arguments.header or list(WORLDS)
    mutants = [mutant for header in headers for mutant in mutants_of(header)]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        failed = judge_all(Judge(arguments, Path(folder)), headers, mutants, arguments.jobs)
    print(f"{len(mutants)} mutants, {len(failed)} not caught")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

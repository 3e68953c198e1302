#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the tidy test: every rule must catch its bad examples and let the good ones through."""

import unittest
from typing import ClassVar
from unittest import mock

import banned
import comments
import documents
import figures
import headers
import layers
import lock_free
import prose
import references
import sizes
import tidy
import versions
from tree import Source, Tree

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"

TABLE = """# Architecture

| folder | holds | includes | must not |
|---|---|---|---|
| `src/base/` | x | - | - |
| `src/plan/` | x | `base` | - |
| `src/team/` | x | `base`, `plan` | - |
| `python/` | x | public headers | - |
"""

RING = """// SPDX-License-Identifier: Apache-2.0
// Purpose: a flag.
//
// Roles: one sender, one receiver.
//
// Layout (one line):
//   0  8  count  sender  receiver
//
// Protocol: the sender stores, the receiver loads.
//
// Order:
//   P1: release store in send -> acquire load in receive: publishes the payload.
//
// Progress: wait-free.
//
// Checked by: a model.
#pragma once
#include <atomic>
inline void send(std::atomic<int>& flag) {
    flag.store(1, std::memory_order_release); // P1 release
}
inline int receive(std::atomic<int>& flag) {
    // P1 acquire
    return flag.load(std::memory_order_acquire);
}
"""

FENCED = """// SPDX-License-Identifier: Apache-2.0
// Purpose: a handshake.
// Roles: two.
// Layout: two words.
// Protocol: store, fence, load.
// Order: F1: light_fence in wake <-> heavy_fence in announce.
// Progress: wait-free.
// Checked by: a model.
#pragma once
template <class Env>
struct Spot {
    typename Env::template Atomic<int> word;
    void announce() {
        word.store(1, std::memory_order_relaxed);
        Env::heavy_fence(); // F1
    }
    void wake() {
        Env::light_fence(); // F1
    }
};
"""


def lines(count: int) -> str:
    return "    x();\n" * count


class RuleTest(unittest.TestCase):
    """Helpers; `seen` collects which rule functions the tests have made to fail."""

    seen: ClassVar[set[str]] = set()

    def bad(self, rule, files: dict[str, str], line: int | None = None, text: str = "") -> None:
        found = list(rule(Tree.of(files)))
        assert found, f"{rule.__name__} let it through"
        if line is not None:
            assert line in [finding.line for finding in found]
        assert text in " / ".join(str(finding) for finding in found)
        RuleTest.seen.add(rule.__name__)

    def good(self, rule, files: dict[str, str]) -> None:
        assert [str(finding) for finding in rule(Tree.of(files))] == []


class Layers(RuleTest):
    def check(self, path: str, include: str, other: str = "src/base/x.hpp") -> dict[str, str]:
        return {"docs/architecture.md": TABLE, path: f"#include {include}\n", other: ""}

    def test_lower_layer_may_not_include_a_higher_one(self):
        files = self.check("src/base/a.cpp", '"plan/x.hpp"', "src/plan/x.hpp")
        self.bad(layers.check_layers, files, 1, "src/base may not include src/plan")

    def test_allowed_include(self):
        self.good(layers.check_layers, self.check("src/plan/a.cpp", '"base/x.hpp"'))
        self.good(layers.check_layers, self.check("src/plan/b.cpp", "<vector>"))

    def test_public_header_of_a_forbidden_layer(self):
        files = self.check("src/plan/a.cpp", "<corymb/team.hpp>")
        self.bad(layers.check_layers, files, 1, "owns <corymb/team.hpp>")
        self.good(layers.check_layers, self.check("src/team/a.cpp", "<corymb/plan.hpp>"))
        self.good(layers.check_layers, self.check("src/base/a.cpp", "<corymb/error.hpp>"))

    def test_outsiders_may_not_reach_into_src(self):
        files = self.check("python/module/a.cpp", '"base/x.hpp"')
        self.bad(layers.check_layers, files, 1, "python may not include src/base")

    def test_layers_of_the_adapter(self):
        row = "| `adapters/mpi/below/` | - | - | - |\n| `adapters/mpi/entry/` | - | `below` | - |\n"
        files = {
            "docs/architecture.md": TABLE + row,
            "adapters/mpi/below/host.hpp": "",
            "adapters/mpi/entry/a.hpp": '#include "below/host.hpp"\n',
        }
        self.good(layers.check_layers, files)
        files["adapters/mpi/below/host.cpp"] = '#include "entry/a.hpp"\n'
        self.bad(layers.check_layers, files, 1, "below may not include adapters/mpi/entry")
        del files["adapters/mpi/below/host.cpp"]
        files["adapters/mpi/new/a.cpp"] = "#include <vector>\n"
        self.bad(layers.check_layers, files, 1, "no row")
        files = {"adapters/mpi/policy/a.cpp": "#include <mpi.h>\n"}
        self.bad(layers.check_system_headers, files, 1)

    def test_path_must_start_at_src(self):
        self.bad(layers.check_layers, self.check("src/plan/a.cpp", '"tree.hpp"'), 1)
        self.bad(layers.check_layers, self.check("src/plan/a.cpp", '"corymb/plan.hpp"'), 1)

    def test_folder_without_row_and_missing_table(self):
        self.bad(layers.check_layers, self.check("src/new/a.cpp", "<vector>"), 1, "no row")
        self.bad(layers.check_layers, {"src/base/a.cpp": ""}, 1, "no table")

    def test_commented_include_does_not_count(self):
        files = self.check("src/base/a.cpp", "<vector>\n// #include <corymb/team.hpp>")
        self.good(layers.check_layers, files)

    def test_system_headers(self):
        self.bad(layers.check_system_headers, {"src/plan/a.cpp": "#include <thread>\n"}, 1)
        self.bad(layers.check_system_headers, {"src/sim/a.cpp": "\n#include <chrono>\n"}, 2)
        self.good(layers.check_system_headers, {"src/team/a.cpp": "#include <thread>\n"})

    def test_umbrellas_have_all_headers(self):
        umbrella, header = "include/corymb/corymb.hpp", "include/corymb/team.hpp"
        missing = {umbrella: "// #include <corymb/team.hpp>\n", header: ""}
        self.bad(layers.check_umbrellas, missing, 1, "does not include it")
        self.bad(layers.check_umbrellas, {"include/corymb/c/a.h": ""}, 1, "include/corymb.h")
        self.good(layers.check_umbrellas, missing | {umbrella: "#include <corymb/team.hpp>\n"})


class Headers(RuleTest):
    def test_a_name_needs_its_header(self):
        self.bad(headers.check_standard_headers, {"src/a.cpp": "\nstd::move(x);\n"}, 2, "<utility>")
        files = {"src/a.cpp": "#include <utility>\nstd::move(x);\n"}
        self.good(headers.check_standard_headers, files)
        files = {"src/a.cpp": "#include <vector>\nstd::ranges::sort(x);\n"}
        self.bad(headers.check_standard_headers, files, 2, "<algorithm>")

    def test_headers_of_the_project_count(self):
        files = {
            "src/plan/a.cpp": '#include "plan/a.hpp"\nstd::vector<int> x;\n',
            "src/plan/a.hpp": '#include <vector>\n#include "plan/b.hpp"\n',
            "src/plan/b.hpp": '#include "plan/a.hpp"\nstd::vector<int> y;\n',
        }
        self.good(headers.check_standard_headers, files)
        files["src/plan/a.hpp"] = '#include <string>\n#include "plan/b.hpp"\n'
        self.bad(headers.check_standard_headers, files, 2, "src/plan/a.cpp")

    def test_only_what_the_standard_promises(self):
        loop = "for (const int number : {1, 2}) {\n}\n"
        files = {"src/a.cpp": f"#include <csignal>\n{loop}"}
        self.bad(headers.check_standard_headers, files, 2, "<initializer_list>")
        self.good(headers.check_standard_headers, {"src/a.cpp": f"#include <vector>\n{loop}"})

    def test_comments_do_not_count(self):
        self.good(headers.check_standard_headers, {"src/a.cpp": "// std::move(x)\n"})


class Sizes(RuleTest):
    def test_file_size(self):
        self.bad(sizes.check_file_size, {"src/a.cpp": "\n" * 601}, 601)
        self.good(sizes.check_file_size, {"src/a.cpp": "\n" * 600})
        self.good(sizes.check_file_size, {"tests/a.cpp": "\n" * 800})
        self.bad(sizes.check_file_size, {"tests/a.cpp": "\n" * 801}, 801)

    def test_line_length(self):
        self.bad(sizes.check_line_length, {"src/a.cpp": "//" + "x" * 99}, 1)
        self.good(sizes.check_line_length, {"src/a.cpp": "é" * 100})

    def test_blobs(self):
        self.bad(sizes.check_blobs, {"tests/data/a.txt": "x" * 70_000})
        self.good(sizes.check_blobs, {"machines/a.csv": "x" * 70_000})

    def test_long_functions(self):
        for head in (
            "void f(int a)",
            "int A::g() const noexcept",
            "A::A(int x) : a_{1}, b_(x)",
            "TEST(Suite, Name)",
            "auto f() -> std::vector<int>",
            "template <class T> requires (sizeof(T) > 1) T f(std::vector<T> v)",
            'extern "C" int f(int a)',
            "std::strong_ordering operator<=>(const A& other) const",
        ):
            with self.subTest(head):
                text = f"namespace n {{\n{head} {{\n{lines(69)}}}\n}}\n"
                self.bad(sizes.check_function_size, {"src/a.cpp": text}, 2, "71 lines")
                text = f"namespace n {{\n{head} {{\n{lines(68)}}}\n}}\n"
                self.good(sizes.check_function_size, {"src/a.cpp": text})

    def test_functions_in_classes_and_after_each_other(self):
        body = f"void f() {{\n{lines(40)}}}\n"
        text = f"class A : public B {{\npublic:\n{body}{body}    int x = 0;\n}};\n"
        self.good(sizes.check_function_size, {"src/a.hpp": text})
        text = f"struct alignas(64) A {{\nvoid f() {{\n{lines(70)}}}\n}};\n"
        self.bad(sizes.check_function_size, {"src/a.hpp": text}, 2)

    def test_tables_and_types_are_no_functions(self):
        rows = '    {"a", f(1)},\n' * 90
        self.good(sizes.check_function_size, {"src/a.cpp": f"const Row rows[] = {{\n{rows}}};\n"})
        names = "    a,\n" * 90
        self.good(sizes.check_function_size, {"src/a.hpp": f"enum class E : int {{\n{names}}};\n"})

    def test_braces_in_literals_and_macros(self):
        text = f'void f() {{\n    s = "}}";\n    c = \'}}\';\n    r = R"(}}}}}})";\n{lines(70)}}}\n'
        self.bad(sizes.check_function_size, {"src/a.cpp": text}, 1)
        text = f"#define OPEN \\\n    {{\nvoid f() {{\n{lines(70)}}}\n"
        self.bad(sizes.check_function_size, {"src/a.cpp": text}, 3)

    def test_long_python_functions(self):
        text = "def f():\n" + "    x = 1\n" * 70
        self.bad(sizes.check_function_size, {"a.py": text}, 1, "f has 71 lines")
        self.good(sizes.check_function_size, {"a.py": "def f():\n" + "    x = 1\n" * 69})


class Banned(RuleTest):
    def test_each_word_is_caught_where_it_is_banned(self):
        bad = {
            "volatile": ("src/a.cpp", "volatile int x;"),
            "using namespace": ("src/a.hpp", "using namespace std;"),
            "std::endl": ("bench/a.cpp", "out << std::endl;"),
            "rand": ("src/a.cpp", "int x = rand();"),
            "abort": ("src/a.cpp", "std::abort();"),
            "std::terminate": ("src/a.cpp", "std::terminate();"),
            "std::cerr": ("src/a.cpp", "std::cerr << 1;"),
            "sleep_for": ("tests/model/a.cpp", "std::this_thread::sleep_for(1s);"),
            "NULL": ("src/a.cpp", "p = NULL;"),
            "typedef": ("src/a.hpp", "typedef int x;"),
            "goto": ("src/a.cpp", "goto end;"),
            "atoi": ("src/a.cpp", "atoi(text);"),
            ".load": ("src/a.cpp", "x.load();"),
        }
        assert len(bad) - 1 == len(banned.BANS), "a ban has no example"
        for word, (path, code) in bad.items():
            with self.subTest(word):
                self.bad(banned.check_banned_words, {path: f"\n{code}\n"}, 2, word)

    def test_comments_strings_and_other_places_are_free(self):
        good = {
            "src/a.cpp": '// volatile\ntext = "NULL";\nusing namespace std::literals;\n',
            "src/b.cpp": 'asm volatile("" ::: "memory");\n',
            "tests/stress/a.cpp": "std::this_thread::sleep_for(1s); std::abort();\n",
            "include/a.h": "typedef int a;\n",
            "src/c.cpp": "x.load(std::memory_order_relaxed); int random = brand();\n",
        }
        for path, text in good.items():
            with self.subTest(path):
                self.good(banned.check_banned_words, {path: text})

    def test_default_orders(self):
        use = "#include <atomic>\n"
        for access in ("store(1)", "exchange(f(2))", "fetch_add(1)", "compare_exchange_weak(a, b)"):
            with self.subTest(access):
                self.bad(banned.check_default_orders, {"src/a.cpp": f"{use}x.{access};\n"}, 2)
                self.bad(banned.check_default_orders, {"src/a.cpp": f"{use}p->{access};\n"}, 2)
        text = f"{use}x.store(f(1),\n    std::memory_order_release);\ny.store(1, order);\n"
        self.good(banned.check_default_orders, {"src/a.cpp": text})
        self.good(banned.check_default_orders, {"src/a.cpp": f"{use}std::exchange(a, b);\n"})
        self.good(banned.check_default_orders, {"src/a.cpp": "tree.exchange(a, b);\n"})

    def test_tuned_numbers(self):
        text = "CORYMB_TUNED Tuned<int> most{};\n"
        self.bad(banned.check_tuned_numbers, {"src/tune/blocks.cpp": text}, 1)
        self.good(banned.check_tuned_numbers, {"src/tune/tuning.hpp": text})

    def test_limits_of_tests(self):
        rule = banned.check_limits_of_tests
        for text in ("run(timeout=60)\n", "end = time.monotonic() + 3\n"):
            self.bad(rule, {"tests/python/test_a.py": text}, 1)
        self.good(rule, {"tests/python/test_a.py": "run(timeout=LIMIT_S)\n"})
        self.good(rule, {"bench/a.py": "run(timeout=60)\n"})
        for text in ("EXPECT_LT(Clock::now() - begin,\n    30s);\n", "f(now() - begin < 3s);\n"):
            self.bad(rule, {"tests/unit/a.cpp": text}, 1)
        self.good(rule, {"tests/unit/a.cpp": "EXPECT_GE(Clock::now() - begin, 60ms);\n"})

    def test_strongest_orders(self):
        for word in ("std::memory_order_seq_cst", "memory_order::seq_cst", "atomic_thread_fence"):
            with self.subTest(word):
                files = {
                    "src/a.hpp": f"f({word});\n",
                    "docs/explain/memory-order.md": "`src/b.hpp`\n",
                }
                self.bad(banned.check_strongest_orders, files, 1)
                files["docs/explain/memory-order.md"] = "| `src/a.hpp` | why |\n"
                self.good(banned.check_strongest_orders, files)

    def test_leftovers(self):
        for word in ("FIXME", "TODO", "XXX", "HACK"):
            self.bad(banned.check_leftovers, {"docs/a.md": f"# A\n{word}: more\n"}, 2)
        self.good(banned.check_leftovers, {"docs/a.md": "Todo lists are fine.\n"})

    def test_slow_headers(self):
        text = "#include <nlohmann/json.hpp>\n"
        self.bad(banned.check_slow_headers, {"src/base/json.hpp": text}, 1)
        self.good(banned.check_slow_headers, {"src/base/json.cpp": text})
        self.bad(banned.check_slow_headers, {"include/corymb/a.hpp": "#include <hwloc.h>\n"}, 1)

    def test_first_lines(self):
        self.bad(banned.check_first_lines, {"src/a.cpp": "int x;\n"}, 1, "licence")
        self.bad(banned.check_first_lines, {"CMakeLists.txt": "project(x)\n"}, 1, "licence")
        self.bad(banned.check_first_lines, {"src/a.hpp": LICENCE}, 1, "pragma once")
        self.good(banned.check_first_lines, {"src/a.hpp": f"{LICENCE}#pragma once\n"})
        script = "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"
        self.good(banned.check_first_lines, {"a.sh": script, "docs/a.md": "# A\n"})

    def test_executable_bit(self):
        self.bad(banned.check_executable_bit, {"a.sh": "#!/bin/sh\n"}, 1)
        tree = Tree({"a.sh": Source("a.sh", "#!/bin/sh\n", executable=True)})
        assert list(banned.check_executable_bit(tree)) == []
        tree = Tree({"a.hpp": Source("a.hpp", "int x;\n", executable=True)})
        assert len(list(banned.check_executable_bit(tree))) == 1


class LockFree(RuleTest):
    rules = (lock_free.check_headers, lock_free.check_tags, lock_free.check_pairs)

    def test_good_files(self):
        for rule in self.rules:
            for text in (RING, FENCED):
                self.good(rule, {"src/channel/a.hpp": text})

    def test_each_part_is_missed(self):
        for part in lock_free.PARTS:
            with self.subTest(part):
                text = RING.replace(f"// {part.capitalize()}", "// Remark")
                self.bad(lock_free.check_headers, {"src/channel/a.hpp": text}, 2, part)

    def test_empty_part_and_wrong_order(self):
        text = RING.replace("// Progress: wait-free.", "// Progress:")
        self.bad(lock_free.check_headers, {"src/a.hpp": text}, 2, "progress")
        text = RING.replace("// Roles:", "// X:").replace("// Progress:", "// Roles:")
        text = text.replace("// X:", "// Progress:")
        self.bad(lock_free.check_headers, {"src/a.hpp": text}, 2, "another order")

    def test_missing_tags(self):
        text = RING.replace(" // P1 release", "")
        self.bad(lock_free.check_tags, {"src/a.hpp": text}, 20, "P1 release")
        text = RING.replace("    // P1 acquire\n", "")
        self.bad(lock_free.check_tags, {"src/a.hpp": text}, 23, "P1 acquire")
        text = RING.replace("// P1 release", "// P1 acquire")
        self.bad(lock_free.check_tags, {"src/a.hpp": text}, 20, "P1 release")
        text = FENCED.replace("heavy_fence(); // F1", "heavy_fence();")
        self.bad(lock_free.check_tags, {"src/a.hpp": text}, 15, "fence")

    def test_a_tag_of_the_line_before_does_not_count_for_the_next(self):
        text = RING.replace(
            "    // P1 acquire\n", "    flag.load(std::memory_order_acquire); // P1 acquire\n"
        )
        self.bad(lock_free.check_tags, {"src/a.hpp": text}, 24)

    def test_pairs_with_one_end(self):
        text = RING.replace("release); // P1 release", "relaxed);")
        self.bad(lock_free.check_pairs, {"src/a.hpp": text}, 2, "P1 has no release end")
        text = FENCED.replace("        Env::light_fence(); // F1\n", "")
        self.bad(lock_free.check_pairs, {"src/a.hpp": text}, 2, "F1 has no light end")
        text = RING.replace("//   P1:", "//   A pair:")
        self.bad(lock_free.check_pairs, {"src/a.hpp": text}, 2, "does not argue P1")

    def test_other_end_in_a_named_file(self):
        text = RING.replace("release); // P1 release", "relaxed);")
        text = text.replace("release store in send", "release store in team/b.hpp")
        other = f"{LICENCE}// P1: argued in channel/a.hpp.\n"
        other += "x.store(1, std::memory_order_release); // P1 release\n"
        self.good(lock_free.check_pairs, {"src/channel/a.hpp": text, "src/team/b.hpp": other})

    def test_primitives_are_left_out(self):
        text = "f(std::memory_order_seq_cst);\n"
        page = "# M\n\n## Primitives\n\n| `src/a.hpp` | why |\n"
        self.bad(lock_free.check_tags, {"src/a.hpp": text}, 1)
        self.good(lock_free.check_tags, {"src/a.hpp": text, "docs/explain/memory-order.md": page})


class Documents(RuleTest):
    def test_titles(self):
        self.bad(documents.check_titles, {"a.md": "# A\n\n# B\n"}, 3)
        self.bad(documents.check_titles, {"a.md": "text\n"}, 1)
        self.good(documents.check_titles, {"a.md": "# A\n\n```sh\n# comment\n```\n"})

    def test_links(self):
        self.bad(documents.check_links, {"docs/a.md": "# A\n[b](b.md)\n"}, 2)
        self.bad(documents.check_links, {"a.md": '# A\n<img src="x.png">\n'}, 2)
        self.bad(documents.check_links, {"a.md": "# A\n[b](#missing)\n"}, 2)
        good = {"docs/a.md": "# A b\n[b](../b.md#b-c) [a](#a-b) [w](https://x.y)\n"}
        self.good(documents.check_links, {**good, "b.md": "# T\n## B, c\n"})

    def test_reachable(self):
        self.bad(documents.check_reachable, {"README.md": "# R\n", "docs/a.md": "# A\n"})
        self.good(documents.check_reachable, {"README.md": "[a](docs/a.md)", "docs/a.md": "# A\n"})
        files = {
            "README.md": "[d](docs/decisions/README.md) [x](docs/decisions/0001-x.md)",
            "docs/decisions/README.md": "# D\n",
            "docs/decisions/0001-x.md": "# X\n",
        }
        self.bad(documents.check_reachable, files, 1, "does not link it")
        files["docs/decisions/README.md"] = "# D\n[x](0001-x.md)\n"
        self.good(documents.check_reachable, files)

    def test_code_blocks(self):
        files = {"README.md": "# R\n```cpp\nint main() {}\n```\n"}
        self.bad(documents.check_code_blocks, files, 2)
        self.bad(documents.check_code_blocks, {**files, "examples/a.cpp": "int x;\n"}, 2)
        program = f"{LICENCE}int main() {{ // runs\n}}\n"
        self.good(documents.check_code_blocks, {**files, "examples/a.cpp": program})
        literal = {"README.md": '# R\n```c\nf("a b"); /* c */\n```\n'}
        self.good(documents.check_code_blocks, {**literal, "examples/a.c": 'f( "a b" );\n'})
        self.bad(documents.check_code_blocks, {**literal, "examples/a.c": 'f("ab");\n'}, 2)

    def test_other_code_blocks(self):
        rule, begin = documents.check_code_blocks, "# R\n\n"
        self.good(rule, {"README.md": f"{begin}```sh\nls\n```\n"})
        python = {"README.md": f"{begin}```python\nf()  # calls\n```\n"}
        self.bad(rule, python, 3, "stands in no file")
        self.good(rule, {**python, "examples/a.py": "if x:\n    f()\n"})
        self.bad(rule, {"README.md": f"{begin}```\nls\n```\n"}, 3, "none of")
        block = "```cpp\nf();\n```\n\n"
        self.good(rule, {"README.md": f"{begin}<!-- not run: root -->\n{block}"})
        self.bad(rule, {"README.md": f"{begin}<!-- not run: boring -->\n{block}"}, 4, "no reason")
        marked = f"<!-- not run: MPI -->\n{block}" * 2
        self.bad(rule, {"README.md": f"{begin}{marked}"}, 9, "more than one in")

    def test_purposes(self):
        rule = documents.check_purposes
        self.good(rule, {"docs/a.md": "# A\n\nSays what a is.\n\n## B\n", "b.md": "# B\n\n## C\n"})
        self.good(rule, {"docs/decisions/0001-a.md": "# A\n\n- b\n"})
        for text in ("## B\n", "| a |\n", "A line.\n" * 5, "No end\n", ""):
            with self.subTest(text):
                self.bad(rule, {"docs/a.md": f"# A\n\n{text}"}, 1)

    def test_folder_indexes(self):
        rule = documents.check_folder_indexes
        files = {"docs/x/a.md": "# A\n", "docs/index.md": "# D\n"}
        self.bad(rule, files, 1, "docs/x:1")
        self.bad(rule, {**files, "docs/x/README.md": "# X\n"}, 1, "does not link it")
        self.good(rule, {**files, "docs/x/README.md": "# X\n[a](a.md)\n"})

    def test_foreign_words(self):
        for word in (
            "/wo" + "rk/x", "/ro" + "ot/.cache", "/ho" + "me/me/x", "../sha" + "red",
            "py" + "pi.org", "cra" + "tes.io", "registry.np" + "mjs.org",
            "an A" + "I wrote", "the assist" + "ant", "this workp" + "lace",
            "Lang" + "uage model", "deb.deb" + "ian.org",
        ):  # fmt: skip
            with self.subTest(word):
                self.bad(documents.check_foreign_words, {"a.md": f"# A\n{word}\n"}, 2)
        self.good(documents.check_foreign_words, {"a.md": "network/a homework/b AIX rooted\n"})


class References(RuleTest):
    def test_header_tables(self):
        rule = references.check_header_tables
        files = {"include/corymb/a.hpp": "class A;\n", "include/corymb/detail/b.hpp": "\n"}
        row = "| [a.hpp](../../include/corymb/a.hpp) | x | `{}` |\n"
        self.bad(rule, files, 1, "a.hpp` has no row")
        self.bad(rule, {**files, references.CPP_PAGE: "# C\n" + row.format("B")}, 2, "declare `B`")
        self.good(rule, {**files, references.CPP_PAGE: row.format("A")})

    def test_variables(self):
        rule, name = references.check_variables, "CORYMB_" + "A"
        page = {references.VARIABLES_PAGE: f"# E\n| `{name}` | x |\n"}
        self.bad(rule, page, 2, "nothing reads")
        for path, code in (
            ("src/a.cpp", 'std::getenv("{}")'), ("src/a.cpp", 'seconds_from("{}")'),
            ("src/a.cpp", 'given(option, "{}")'), ("python/a.py", 'os.environ.get("{}")'),
            ("python/a.py", '"{}" in os.environ'),
        ):  # fmt: skip
            with self.subTest(code):
                self.bad(rule, {path: code.format(name)}, 1, "has no row")
                self.good(rule, {**page, path: code.format(name)})
        twice = {references.VARIABLES_PAGE: page[references.VARIABLES_PAGE] * 2}
        self.bad(rule, {**twice, "src/a.cpp": f'getenv("{name}")'}, 4, "two rows")


class Comments(RuleTest):
    def test_beginnings(self):
        for comment in (
            "/// The same for threads.", "// Of the ranks.", "int x; ///< Of a rank.",
            "// Purpose: x.\n//\n// The same again.", "int x; // One.\n// The same of x.",
        ):  # fmt: skip
            with self.subTest(comment):
                line = comment.count("\n") + 1
                self.bad(comments.check_comments, {"src/a.cpp": f"{comment}\nint y;\n"}, line)

    def test_the_words_may_stand_elsewhere(self):
        for comment in (
            "// All ranks call\n// the same operation.", "/// Two of three.", "// Office hours.",
            "// A long line\n// Of its own.", "int x; ///< A line\n       ///< Of its own.",
            'auto x = "// Of";',
        ):  # fmt: skip
            with self.subTest(comment):
                self.good(comments.check_comments, {"src/a.cpp": f"{comment}\nint y;\n"})
        self.good(comments.check_comments, {"docs/a.md": "// Of a page\n"})

    def test_list_may_only_shrink(self):
        own = {comments.OWN_PATH: ""}
        with mock.patch.object(comments, "NOT_YET", frozenset({"src/a.cpp"})):
            self.bad(comments.check_comment_list, {**own, "src/a.cpp": "// A.\n"}, 1, "src/a.cpp")
            self.bad(comments.check_comment_list, own, 1, "src/a.cpp")
            files = {**own, "src/a.cpp": "// Of b.\n"}
            self.good(comments.check_comment_list, files)
            self.good(comments.check_comments, files)
            self.bad(comments.check_comments, {"src/b.cpp": "// Of b.\n"}, 1)


class Prose(RuleTest):
    def page(self, text):
        return {"docs/a.md": f"# A\n\n{text}\n"}

    def test_long_sentences(self):
        long = " ".join("w" * 36)
        for text in (long, f"Short. {long}.", f"- {long}", f"{long[:40]}\n{long[40:]}"):
            with self.subTest(text):
                self.bad(prose.check_prose, self.page(text), 3, "words")
        half = " ".join("w" * 18)
        for text in (
            f"{half}. {half}. {half}", f"- {half}\n- {half}", f"{half}\n\n{half}",
            f"{half} `{half}`", f"```\n{long}\n```", f"    {long}", f"## {long}", f"> {long}",
            f"{half} [w](https://a.b/c%20{half.replace(' ', '/')})",
        ):  # fmt: skip
            with self.subTest(text):
                self.good(prose.check_prose, self.page(text))

    def test_long_lines_and_cells(self):
        self.bad(prose.check_prose, self.page("a " * 61), 3, "columns")
        self.good(prose.check_prose, self.page("`" + "a " * 80 + "`"))
        self.good(prose.check_prose, self.page("a" * 130))
        self.bad(prose.check_prose, self.page("| a | " + "b" * 121 + " |"), 3, "cell")
        self.good(prose.check_prose, self.page("| " + "a" * 90 + " | " + "b" * 90 + " |"))


class Figures(RuleTest):
    def page(self, text, path="docs/explain/a.md"):
        return {path: f"# A\n\n{text}\n"}

    def test_figures_in_prose(self):
        for text in (
            "It takes 25 ms.", "A call of 0.5 µs.", "2 s more", "two seconds later", "10 GB/s",
            "3 % slower", "a 200 Mbit/s link", "4x as fast", "1.5 times as long",
            "three times the size", "- after 50 µs", "| calls | 12 ms |",
        ):  # fmt: skip
            with self.subTest(text):
                self.bad(figures.check_figures, self.page(text), 3, "docs/results")

    def test_other_numbers(self):
        for text in (
            "8 ranks, 64 KiB", "six times in a row", "`25 ms`", "```\n25 ms\n```", "    25 ms",
            "10^9 B/s is the unit", "2x4 nodes", "> 25 ms",
            "| limit | value |\n|---|---|\n| deadline | 25 ms |",
        ):  # fmt: skip
            with self.subTest(text):
                self.good(figures.check_figures, self.page(text))
        for path in ("docs/results/a.md", "docs/decisions/0001-a.md"):
            self.good(figures.check_figures, self.page("25 ms", path))
        table = "| a | b |\n|---|---|\n| c | 25 ms |"
        self.good(figures.check_figures, self.page(table, "docs/reference/a.md"))
        self.bad(figures.check_figures, self.page("25 ms", "docs/reference/a.md"), 3)

    def test_sections_of_limits(self):
        table = "| a | b |\n|---|---|\n| c | 25 ms |"
        self.good(figures.check_figures, self.page(f"## Limits of waits\n\n{table}"))
        self.bad(figures.check_figures, self.page("## Limits\n\n25 ms"), 5)
        self.bad(figures.check_figures, self.page(f"## Limits\n\n## Waits\n\n{table}"), 9)
        self.bad(figures.check_figures, self.page(f"## No limits\n\n{table}"), 7)


class Versions(RuleTest):
    HEADER = "".join(
        f"#define CORYMB_VERSION_{part} {number}\n"
        for part, number in (("MAJOR", 1), ("MINOR", 2), ("PATCH", 3))
    )

    def test_one_version(self):
        header = {versions.HEADER: self.HEADER}
        self.bad(versions.check_version, {versions.HEADER: "#define CORYMB_VERSION_MAJOR 1\n"}, 1)
        for path, text in (
            ("CHANGELOG.md", "# C\n\n## [1.2.4] - 2026-01-01\n"), ("CITATION.cff", "title: a\n"),
            ("CMakeLists.txt", "project(a VERSION 1.2.3)\n"),
            ("pyproject.toml", 'version = "1.2.3"\n'),
        ):  # fmt: skip
            with self.subTest(path):
                self.bad(versions.check_version, {**header, path: text}, 1, path)
        good = {
            "CHANGELOG.md": "# C\n\n## [1.2.3] - 2026-01-01\n",
            "CITATION.cff": "version: 1.2.3\n",
            "CMakeLists.txt": "project(a VERSION ${corymb_version})\n",
        }
        self.good(versions.check_version, {**header, **good})

    def test_formats(self):
        schema = "docs/schema/plan-2.schema.json"
        good = {schema: '{"const": "corymb-plan/2"}\n'}
        self.bad(versions.check_formats, {schema: '{"const": "corymb-plan/1"}\n'}, 1)
        self.bad(versions.check_formats, {**good, "src/a.cpp": '"corymb-plan/1"\n'}, 1)
        self.good(versions.check_formats, {**good, "tests/a.cpp": '"corymb-plan/9"\n'})
        self.good(versions.check_formats, {**good, "docs/a.md": "corymb-plan/2, corymb-bench/1\n"})


class Whole(unittest.TestCase):
    def test_findings_are_sorted_and_counted(self):
        tree = Tree.of({"src/b.cpp": "int x;\n", "src/a.cpp": "volatile int x;\n"})
        found = tidy.findings(tree)
        assert found == sorted(found, key=lambda f: (f.path, f.line, f.rule))
        assert len(found) >= 3

    def test_zz_every_rule_was_made_to_fail(self):
        names = {rule.__name__ for rule in tidy.RULES}
        assert names - RuleTest.seen == set(), "rules without a bad example"


if __name__ == "__main__":
    unittest.main()

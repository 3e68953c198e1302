# SPDX-License-Identifier: Apache-2.0
"""Names of the standard library and the headers that declare them.

A compiler's library includes more than the standard promises, and another version includes
something else. A name therefore needs its header: in the file, or in a header of this project that
the file includes. Names that several headers declare are left out.
"""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree import Finding, Source, Tree

NAMES = {
    "algorithm": "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count"
    " count_if equal equal_range fill fill_n find find_if find_if_not for_each generate includes"
    " is_permutation is_sorted iter_swap lexicographical_compare lower_bound max max_element merge"
    " min min_element minmax minmax_element mismatch next_permutation none_of nth_element"
    " partial_sort partition partition_point remove_copy_if remove_if replace replace_if reverse"
    " rotate sample search set_difference set_intersection set_union shuffle sort stable_partition"
    " stable_sort swap_ranges transform unique upper_bound",
    "array": "array to_array",
    "atomic": "atomic atomic_flag atomic_ref atomic_signal_fence atomic_thread_fence memory_order"
    " memory_order_acq_rel memory_order_acquire memory_order_relaxed memory_order_release"
    " memory_order_seq_cst",
    "barrier": "barrier",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_one countr_zero endian"
    " has_single_bit popcount rotl rotr",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "cmath": "ceil exp fabs floor fma hypot isfinite isinf isnan ldexp llround log log10 log2"
    " lround nextafter pow round signbit sqrt trunc",
    "complex": "complex",
    "concepts": "constructible_from convertible_to copyable derived_from floating_point integral"
    " invocable movable regular_invocable same_as signed_integral unsigned_integral",
    "condition_variable": "condition_variable condition_variable_any",
    "cstdint": "int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t"
    " uintmax_t uintptr_t",
    "cstdio": "fclose fflush fgets fopen fprintf fputs fread fwrite perror printf puts snprintf"
    " sscanf tmpfile",
    "cstdlib": "aligned_alloc atexit calloc free getenv malloc quick_exit realloc strtod strtol"
    " strtoul strtoull system",
    "cstring": "memchr memcmp memcpy memmove memset strchr strcmp strerror strlen strncmp strrchr"
    " strstr",
    "deque": "deque",
    "exception": "current_exception exception_ptr make_exception_ptr rethrow_exception terminate"
    " uncaught_exceptions",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "bit_and bit_or bit_xor cref function invoke minus multiplies not_fn plus ref"
    " reference_wrapper",
    "future": "async future promise",
    "initializer_list": "initializer_list",
    "iomanip": "setfill setprecision setw",
    "iostream": "cerr cin clog cout",
    "iterator": "back_inserter inserter istreambuf_iterator make_move_iterator ostream_iterator",
    "latch": "latch",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory": "addressof allocator allocator_traits construct_at default_delete destroy_at"
    " make_shared make_unique shared_ptr static_pointer_cast to_address unique_ptr weak_ptr",
    "mutex": "call_once lock_guard mutex once_flag recursive_mutex scoped_lock timed_mutex"
    " unique_lock",
    "new": "align_val_t bad_alloc bad_array_new_length hardware_destructive_interference_size"
    " launder nothrow",
    "numbers": "numbers",
    "numeric": "accumulate exclusive_scan gcd inclusive_scan inner_product iota lcm midpoint"
    " partial_sum",
    "optional": "make_optional nullopt optional",
    "queue": "priority_queue queue",
    "random": "discrete_distribution mt19937 mt19937_64 random_device seed_seq"
    " uniform_int_distribution uniform_real_distribution",
    "regex": "regex regex_match regex_search",
    "semaphore": "binary_semaphore counting_semaphore",
    "set": "multiset set",
    "shared_mutex": "shared_lock shared_mutex",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept": "domain_error invalid_argument length_error logic_error out_of_range"
    " overflow_error range_error runtime_error",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "basic_string stod stoi stol stoul string to_string u16string",
    "string_view": "basic_string_view string_view",
    "system_error": "errc error_code generic_category make_error_code system_category system_error",
    "thread": "jthread this_thread thread",
    "tuple": "forward_as_tuple make_tuple tie tuple",
    "type_traits": "bool_constant common_type_t conditional_t decay_t enable_if_t false_type"
    " integral_constant invoke_result_t is_arithmetic_v is_array_v is_base_of_v is_class_v"
    " is_const_v is_constructible_v is_convertible_v is_copy_constructible_v"
    " is_default_constructible_v is_enum_v is_floating_point_v is_integral_v is_invocable_r_v"
    " is_invocable_v is_lvalue_reference_v is_move_constructible_v is_nothrow_move_constructible_v"
    " is_pointer_v is_reference_v is_same_v is_signed_v is_standard_layout_v"
    " is_trivially_copyable_v is_trivially_default_constructible_v is_trivially_destructible_v"
    " is_unsigned_v is_void_v make_signed_t make_unsigned_t remove_const_t remove_cv_t"
    " remove_cvref_t remove_extent_t remove_pointer_t remove_reference_t true_type type_identity_t"
    " underlying_type_t void_t",
    "typeinfo": "type_info",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "utility": "as_const cmp_less declval exchange forward in_place in_place_t index_sequence"
    " make_index_sequence make_pair move pair piecewise_construct",
    "variant": "get_if holds_alternative monostate variant visit",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
# Where the standard itself says that a header includes another.
PROMISED = {
    "initializer_list": "algorithm array deque forward_list iterator list map queue random ranges"
    " regex set string string_view unordered_map unordered_set utility valarray vector",
}
# A braced list in a range-based loop is an initializer_list that nobody names.
LIST_LOOP = re.compile(r"\bfor \([^;{}()]*:\s*\{")
USED = re.compile(r"\bstd::(?:ranges::)?([A-Za-z_0-9]+)")
FOLDERS = (
    "include",
    "src",
    "bench",
    "tests/unit",
    "tests",
    "verify",
    "adapters/mpi",
    "python/module",
)


def check_standard_headers(tree: Tree) -> Iterator[Finding]:
    """Each name of the standard library has its header, by what the project itself includes."""
    known: dict[str, Includes] = {}
    for source in tree.with_suffix(".hpp", ".cpp"):
        have = _foreign_headers(tree, source, known)
        told = set()
        for number, name in _used_names(source):
            header = HEADER_OF.get(name)
            enough = {header, *PROMISED.get(header or "", "").split()}
            if header and header not in told and not have.intersection(enough):
                told.add(header)
                yield Finding(source.path, number, "header", f"`std::{name}` needs <{header}>")


def _used_names(source: Source) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(source.code_lines, 1):
        for match in USED.finditer(line):
            yield number, match[1]
        if LIST_LOOP.search(line):
            yield number, "initializer_list"


@dataclass
class Includes:
    """What one file includes: headers from outside, and files of this project."""

    foreign: set[str] = field(default_factory=set)
    own: list[Source] = field(default_factory=list)


def _includes(tree: Tree, source: Source, known: dict[str, Includes]) -> Includes:
    if source.path not in known:
        found = known[source.path] = Includes()
        for _, path, _ in source.includes:
            own = _in_project(tree, source.path, path)
            if own:
                found.own.append(own)
            else:
                found.foreign.add(path)
    return known[source.path]


def _foreign_headers(tree: Tree, source: Source, known: dict[str, Includes]) -> set[str]:
    """The headers from outside that the file includes, also through files of this project."""
    foreign: set[str] = set()
    seen = {source.path}
    left = [source]
    while left:
        includes = _includes(tree, left.pop(), known)
        foreign |= includes.foreign
        for own in includes.own:
            if own.path not in seen:
                seen.add(own.path)
                left.append(own)
    return foreign


def _in_project(tree: Tree, includer: str, path: str) -> Source | None:
    for folder in (posixpath.dirname(includer), *FOLDERS):
        source = tree.sources.get(posixpath.normpath(posixpath.join(folder, path)))
        if source:
            return source
    return None

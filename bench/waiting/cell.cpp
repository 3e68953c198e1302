// SPDX-License-Identifier: Apache-2.0
#include "cell.hpp"

#include "../threads/arguments.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

using namespace std::string_view_literals;

constexpr int roots_max = 8;
constexpr int ranks_max = 1024, cpus_max = 8192;
constexpr std::size_t bytes_max = std::size_t{1} << 24;

constexpr std::array ops{
    std::pair{WaitingOp::barrier, "barrier"sv},   std::pair{WaitingOp::broadcast, "broadcast"sv},
    std::pair{WaitingOp::reduce, "reduce"sv},     std::pair{WaitingOp::allreduce, "allreduce"sv},
    std::pair{WaitingOp::scatter, "scatter"sv},   std::pair{WaitingOp::gather, "gather"sv},
    std::pair{WaitingOp::alltoall, "alltoall"sv}, std::pair{WaitingOp::mailbox, "mailbox"sv},
    std::pair{WaitingOp::ring, "ring"sv},         std::pair{WaitingOp::multicast, "multicast"sv},
};
constexpr std::array loads{
    std::pair{Neighbours::none, "none"sv},
    std::pair{Neighbours::one, "one"sv},
    std::pair{Neighbours::all, "all"sv},
};
constexpr std::array kinds{std::pair{false, "threads"sv}, std::pair{true, "processes"sv}};

template <class Names>
auto value_of(const Names& names, const std::string& word, const std::string& cell) {
    const auto found = std::ranges::find(names, word, [](const auto& each) { return each.second; });
    if (found == names.end()) {
        throw UsageError("cell " + cell + ": unknown word \"" + word + "\"");
    }
    return found->first;
}

template <class Names, class Value>
std::string name_of(const Names& names, Value value) {
    return std::string(
        std::ranges::find(names, value, [](const auto& each) { return each.first; })->second);
}

std::vector<std::string> words_of(std::string text) {
    std::ranges::replace(text, '/', ',');
    return split(text);
}

} // namespace

bool Cell::has_roots() const noexcept {
    constexpr std::array rooted{WaitingOp::broadcast, WaitingOp::reduce, WaitingOp::scatter,
                                WaitingOp::gather, WaitingOp::ring};
    return std::ranges::find(rooted, op) != rooted.end();
}

int Cell::round() const noexcept {
    return has_roots() ? std::min(ranks, roots_max) : 1;
}

int Cell::root_of(std::uint64_t call) const noexcept {
    const int turn = static_cast<int>(call % static_cast<std::uint64_t>(round()));
    return turn * ranks / round();
}

std::size_t Cell::input_parts(int rank, int root) const noexcept {
    const auto all = static_cast<std::size_t>(ranks);
    const std::size_t at_root = rank == root ? 1 : 0;
    switch (op) {
    case WaitingOp::barrier: return 0;
    case WaitingOp::reduce:
    case WaitingOp::allreduce:
    case WaitingOp::gather: return 1;
    case WaitingOp::alltoall: return all;
    case WaitingOp::scatter: return at_root * all;
    default: return at_root;
    }
}

std::size_t Cell::output_parts(int rank, int root) const noexcept {
    const auto all = static_cast<std::size_t>(ranks);
    const std::size_t at_root = rank == root ? 1 : 0;
    switch (op) {
    case WaitingOp::barrier: return 0;
    case WaitingOp::reduce: return at_root;
    case WaitingOp::gather: return at_root * all;
    case WaitingOp::alltoall: return all;
    case WaitingOp::allreduce:
    case WaitingOp::scatter:
    case WaitingOp::mailbox: return 1;
    default: return 1 - at_root;
    }
}

Cell cell_from(const std::string& word) {
    const std::vector<std::string> words = words_of(word);
    if (words.size() != 6) {
        throw UsageError("cell \"" + word + "\" is not OP/RANKS/BYTES/CPUS/NEIGHBOURS/KIND");
    }
    Cell cell;
    cell.op = value_of(ops, words[0], word);
    cell.ranks = number(words[1], 2, ranks_max, "ranks of " + word);
    cell.bytes = number(words[2], std::size_t{0}, bytes_max, "bytes of " + word);
    cell.cpus = number(words[3], 1, cpus_max, "cpus of " + word);
    cell.neighbours = value_of(loads, words[4], word);
    cell.between_processes = value_of(kinds, words[5], word);
    if ((cell.op == WaitingOp::barrier) != (cell.bytes == 0) || cell.bytes % sizeof(double) != 0) {
        throw UsageError("cell " + word + ": a barrier has 0 bytes, the others a multiple of 8");
    }
    if (cell.op == WaitingOp::multicast && cell.bytes != sizeof(double)) {
        throw UsageError("cell " + word + ": a multicast has 8 bytes");
    }
    return cell;
}

std::string to_string(WaitingOp op) {
    return name_of(ops, op);
}
std::string to_string(Neighbours neighbours) {
    return name_of(loads, neighbours);
}

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Down the tree, one publication that every rank reads; up, a star or a searched tree. Good inside
// one cache, where a store reaches many readers for the price of one.
#include "plan/generate/family_list.hpp"
#include "plan/generate/plan_writer.hpp"
#include "plan/search/tree_search.hpp"

#include <algorithm>
#include <utility>

namespace corymb::generate {

namespace {

Plan make_with(Collective op, const GenerateInput& input, const Tree& up, std::string_view name) {
    PlanWriter writer(op, up.size(), up.root, transport(input), name);
    const std::uint32_t blocks = writer.plan().block_count;
    if (up.size() == 1 && op == Collective::allreduce) {
        writer.copy(0, {Buffer::input, 0, blocks}, {Buffer::output, 0, blocks});
    }
    if (up.size() == 1) {
        return std::move(writer).finished();
    }
    if (op != Collective::broadcast) {
        write_up(writer, up, input.costs, input.ordered);
    }
    for (std::uint32_t number = 0; number < std::max(blocks, 1U); ++number) {
        const Blocks result = blocks > 0 ? Blocks{Buffer::output, number, 1} : Blocks{};
        writer.publish(up.root, result);
        for (Rank rank = 0; rank < up.size(); ++rank) {
            if (rank != up.root) {
                writer.read(rank, up.root, result, number);
            }
        }
    }
    return std::move(writer).finished();
}

bool applies(Collective op, const GenerateInput& input) {
    return has_one_payload(op) && op != Collective::reduce &&
           (op == Collective::barrier || input.via == Mechanism::line ||
            input.via == Mechanism::pull);
}

Plan make_flat(Collective op, const GenerateInput& input) {
    Tree up = make_tree(input.costs.size(), root_or_first(input));
    for (Rank rank = 0; rank < up.size(); ++rank) {
        if (rank != up.root) {
            attach(up, up.root, rank);
        }
    }
    return make_with(op, input, up, shared_line.name);
}

bool tree_applies(Collective op, const GenerateInput& input) {
    return applies(op, input) && op != Collective::broadcast && unordered(op, input);
}

Plan make_tree_up(Collective op, const GenerateInput& input) {
    // A quarter of the moves: this is a variant of the annealed plan, not the main candidate.
    const SearchOptions options{input.seed, moves_of(input) / 4, {}};
    const Tree up = search_tree(TreeCosts(input.costs, Flow::up), input.root, options);
    return make_with(op, input, up, shared_line_tree.name);
}

} // namespace

constinit const Family shared_line{
    .name = "shared-line", .applies = applies, .make = make_flat, .publishes = true};
constinit const Family shared_line_tree{
    .name = "shared-line-tree", .applies = tree_applies, .make = make_tree_up, .publishes = true};

} // namespace corymb::generate

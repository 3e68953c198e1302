// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/hypercube.hpp"

#include <algorithm>
#include <utility>

namespace corymb::generate {

HypercubeShape::HypercubeShape(Rank ranks, bool far_first)
    : size(ranks), core(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(ranks)))) {
    for (Rank mask = 1; mask < core; mask *= 2) {
        masks.push_back(mask);
    }
    if (far_first) {
        std::ranges::reverse(masks);
    }
}

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

double replay(const CostView& costs, const HypercubeShape& shape, const Numbering& numbering) {
    std::vector<double> clock(numbering.size(), 0.0);
    const auto rank = [&](Rank position) {
        return numbering[at(position)];
    };
    for (Rank p = 0; p < shape.surplus(); ++p) {
        const Rank from = rank(shape.core + p);
        clock[at(shape.core + p)] = costs.send(from, rank(p));
        clock[at(p)] = clock[at(shape.core + p)] + costs.receive(from, rank(p));
    }
    std::vector<double> sent(at(shape.core));
    for (const Rank mask : shape.masks) {
        for (Rank p = 0; p < shape.core; ++p) {
            sent[at(p)] = clock[at(p)] + costs.send(rank(p), rank(p ^ mask));
        }
        for (Rank p = 0; p < shape.core; ++p) {
            clock[at(p)] =
                std::max(sent[at(p)], sent[at(p ^ mask)]) + costs.receive(rank(p ^ mask), rank(p));
        }
    }
    for (Rank p = 0; p < shape.surplus(); ++p) {
        const Rank to = rank(shape.core + p);
        clock[at(p)] += costs.send(rank(p), to);
        clock[at(shape.core + p)] = clock[at(p)] + costs.receive(rank(p), to);
    }
    return *std::ranges::max_element(clock);
}

/// Partners of the first surplus pairs are neighbours, so that partial results stay contiguous.
Numbering contiguous_numbering(const HypercubeShape& shape) {
    Numbering numbering(at(shape.size));
    for (Rank p = 0; p < shape.core; ++p) {
        const bool paired = p < shape.surplus();
        numbering[at(p)] = paired ? 2 * p : p + shape.surplus();
        if (paired) {
            numbering[at(shape.core + p)] = 2 * p + 1;
        }
    }
    return numbering;
}

} // namespace

Hypercube best_hypercube(const GenerateInput& input) {
    constexpr std::uint64_t messages_max = 2'000'000;
    const Rank size = input.costs.size();
    if (input.ordered) {
        const HypercubeShape shape(size, false);
        return {shape, contiguous_numbering(shape)};
    }
    HypercubeShape best_shape(size, false);
    Numbering best;
    double best_cost = 0;
    for (const bool far_first : {false, true}) {
        const HypercubeShape shape(size, far_first);
        const std::uint64_t messages = static_cast<std::uint64_t>(size) * (shape.masks.size() + 2);
        Numbering numbering = best_numbering(
            input, std::min(moves_of(input), messages_max / messages),
            [&](const Numbering& candidate) { return replay(input.costs, shape, candidate); });
        const double cost = replay(input.costs, shape, numbering);
        if (best.empty() || cost < best_cost) {
            best = std::move(numbering);
            best_cost = cost;
            best_shape = shape;
        }
    }
    return {best_shape, best};
}

} // namespace corymb::generate

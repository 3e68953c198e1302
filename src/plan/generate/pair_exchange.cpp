// SPDX-License-Identifier: Apache-2.0
// Barrier and small allreduce by pairwise meetings along a hypercube (hypercube.hpp), each on one
// line that both write: `Mechanism::exchange`. The rounds are those of recursive doubling.
#include "plan/generate/family_list.hpp"
#include "plan/generate/hypercube.hpp"
#include "plan/generate/plan_writer.hpp"

#include <utility>

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

bool applies(Collective op, const GenerateInput& input) {
    return input.costs.size() > 1 && (op == Collective::barrier ||
                                      (op == Collective::allreduce &&
                                       input.bytes <= exchange_payload_bytes && input.blocks == 1));
}

Plan make(Collective op, const GenerateInput& input) {
    const bool has_data = op != Collective::barrier;
    const auto [shape, numbering] = best_hypercube(input);
    PlanWriter writer(op, shape.size, 0, {}, pair_exchange.name);
    const auto blocks = [has_data](Buffer buffer) {
        return has_data ? Blocks{buffer, 0, 1} : Blocks{};
    };
    const Blocks own = blocks(Buffer::input);
    const Blocks result = blocks(Buffer::output);
    const auto pass = [&](const Transfer& message) {
        if (has_data) {
            writer.transfer(message);
        } else {
            writer.notify(message.from, message.to);
        }
    };
    for (Rank p = 0; p < shape.surplus(); ++p) {
        const Rank other = numbering[at(shape.core + p)];
        pass({other, numbering[at(p)], own, result, own});
    }
    for (std::size_t round = 0; round < shape.masks.size(); ++round) {
        for (Rank p = 0; p < shape.core; ++p) {
            const bool is_first = round == 0 && p >= shape.surplus();
            writer.meet(numbering[at(p)], numbering[at(p ^ shape.masks[round])],
                        is_first ? own : result, result);
        }
    }
    for (Rank p = 0; p < shape.surplus(); ++p) {
        const Rank other = numbering[at(shape.core + p)];
        pass({numbering[at(p)], other, result, result, {}});
    }
    Plan plan = std::move(writer).finished();
    plan.bytes_max = has_data ? exchange_payload_bytes : 0;
    return plan;
}

} // namespace

constinit const Family pair_exchange{
    .name = "pair-exchange", .applies = applies, .make = make, .meets = true};

} // namespace corymb::generate

// SPDX-License-Identifier: Apache-2.0
// Barrier and small allreduce by pairwise meetings along a hypercube (hypercube.hpp), each on one
// line that both write: `Mechanism::exchange`. The rounds are those of recursive doubling.
#include "plan/generate/family_list.hpp"
#include "plan/generate/hypercube.hpp"

namespace corymb::generate {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

class Writer {
public:
    Writer(Plan& plan, const Hypercube& cube)
        : plan_(plan), cube_(cube), moves_data_(plan.op != Collective::barrier) {}

    void write() {
        const HypercubeShape& shape = cube_.shape;
        for (Rank p = 0; p < shape.surplus(); ++p) {
            send(shape.core + p, p, Buffer::input, Mechanism::line);
            fold(p, shape.core + p, Buffer::input, Mechanism::line);
        }
        for (std::size_t round = 0; round < shape.masks.size(); ++round) {
            for (Rank p = 0; p < shape.core; ++p) {
                const Rank peer = p ^ shape.masks[round];
                const bool untouched = round == 0 && p >= shape.surplus();
                const Buffer before = untouched ? Buffer::input : Buffer::output;
                send(p, peer, before, Mechanism::exchange);
                fold(p, peer, before, Mechanism::exchange);
            }
        }
        for (Rank p = 0; p < shape.surplus(); ++p) {
            send(p, shape.core + p, Buffer::output, Mechanism::line);
            receive(shape.core + p, p);
        }
    }

private:
    void send(Rank from, Rank to, Buffer source, Mechanism via) {
        Step& step = add(from, to, StepKind::signal, StepKind::send, via);
        if (moves_data_) {
            step.from = {source, 0, 1};
        }
    }
    void fold(Rank position, Rank from, Buffer operand, Mechanism via) {
        Step& step = add(position, from, StepKind::wait, StepKind::fold, via);
        if (moves_data_) {
            step.from = {operand, 0, 1};
            step.to = {Buffer::output, 0, 1};
            step.incoming_first = rank(from) < rank(position);
        }
    }
    void receive(Rank position, Rank from) {
        Step& step = add(position, from, StepKind::wait, StepKind::recv, Mechanism::line);
        if (moves_data_) {
            step.to = {Buffer::output, 0, 1};
        }
    }

    /// Signals have no mechanism but exchange.
    Step& add(Rank position, Rank peer, StepKind without_data, StepKind with_data, Mechanism via) {
        Step step;
        step.kind = moves_data_ ? with_data : without_data;
        step.via = moves_data_ || via == Mechanism::exchange ? via : Mechanism::none;
        step.peer = rank(peer);
        return plan_.steps[at(rank(position))].emplace_back(step);
    }
    [[nodiscard]] Rank rank(Rank position) const { return cube_.numbering[at(position)]; }

    Plan& plan_;
    const Hypercube& cube_;
    bool moves_data_;
};

bool applies(Collective op, const GenerateInput& input) {
    return input.costs.size() > 1 && (op == Collective::barrier ||
                                      (op == Collective::allreduce &&
                                       input.bytes <= exchange_payload_bytes && input.blocks == 1));
}

Plan make(Collective op, const GenerateInput& input) {
    const Transport how =
        op == Collective::barrier ? Transport{} : Transport{Mechanism::line, 1, input.bytes};
    Plan plan = start_plan(op, input.costs.size(), 0, how, pair_exchange.name);
    if (op != Collective::barrier) {
        plan.bytes_max = exchange_payload_bytes;
    }
    const Hypercube cube = best_hypercube(input);
    Writer(plan, cube).write();
    return plan;
}

} // namespace

constinit const Family pair_exchange{
    .name = "pair-exchange", .applies = applies, .make = make, .meets = true};

} // namespace corymb::generate

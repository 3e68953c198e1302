// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/plan_writer.hpp"

#include "plan/acknowledge.hpp"
#include "plan/places.hpp"

#include <algorithm>
#include <utility>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Whether each rank of a round sends before it receives. Along a chain or cycle of messages the
/// ranks take turns; at most one pair of neighbours of an odd cycle does the same.
std::vector<bool> senders_first(std::span<const Transfer> messages, Rank size) {
    std::vector<Rank> target(at(size), -1);
    std::vector<bool> has_source(at(size), false);
    for (const Transfer& message : messages) {
        target[at(message.from)] = message.to;
        has_source[at(message.to)] = true;
    }
    std::vector<bool> first(at(size), true);
    std::vector<bool> seen(at(size), false);
    const auto walk = [&](Rank start) {
        bool turn = true;
        for (Rank rank = start; rank >= 0 && !seen[at(rank)]; rank = target[at(rank)]) {
            seen[at(rank)] = true;
            first[at(rank)] = turn;
            turn = !turn;
        }
    };
    for (const bool chains : {true, false}) {
        for (Rank rank = 0; rank < size; ++rank) {
            if (!chains || !has_source[at(rank)]) {
                walk(rank);
            }
        }
    }
    return first;
}

} // namespace

PlanWriter::PlanWriter(Collective op, Rank size, Rank root, const Transport& transport,
                       std::string_view algorithm)
    : via_(transport.via == Mechanism::line ? Mechanism::cells : transport.via) {
    plan_.op = op;
    plan_.root = root;
    plan_.algorithm = algorithm;
    plan_.steps.resize(at(size));
    if (op != Collective::barrier) {
        plan_.block_count = std::max<std::uint32_t>(transport.blocks, 1);
        const bool in_lines = transport.via == Mechanism::line && !has_parts(op);
        plan_.bytes_max =
            std::max<std::uint64_t>(transport.bytes, in_lines ? line_payload_bytes : 1);
    }
}

Mechanism PlanWriter::via(std::uint32_t places) const noexcept {
    return plan::most_bytes_of(plan_, places) <= line_payload_bytes ? Mechanism::line : via_;
}

Mechanism PlanWriter::via_publication(std::uint32_t places) const noexcept {
    return places == 0                      ? Mechanism::none
           : via(places) == Mechanism::line ? Mechanism::line
                                            : Mechanism::pull;
}

bool PlanWriter::is_long(std::uint32_t places) const noexcept {
    return via(places) == Mechanism::cells &&
           places * plan_.block_bytes(plan_.bytes_max) > cell_bytes;
}

void PlanWriter::need_scratch(std::uint32_t places) {
    plan_.scratch_blocks = std::max(plan_.scratch_blocks, places);
}

void PlanWriter::send(Rank from, Rank to, Blocks source) {
    add(from,
        {.kind = StepKind::send, .via = via(source.count), .peer = to, .to = {}, .from = source});
}

void PlanWriter::recv(Rank to, Rank from, Blocks target) {
    add(to, {.kind = StepKind::recv, .via = via(target.count), .peer = from, .to = target});
}

void PlanWriter::fold(Rank rank, Rank from, Blocks own, Blocks target) {
    add(rank, {.kind = StepKind::fold,
               .via = via(target.count),
               .peer = from,
               .to = target,
               .from = own,
               .ordinal = 0,
               .incoming_first = from < rank});
}

void PlanWriter::copy(Rank rank, Blocks from, Blocks to) {
    add(rank, {.kind = StepKind::copy, .via = Mechanism::none, .peer = -1, .to = to, .from = from});
}

void PlanWriter::publish(Rank rank, Blocks source) {
    add(rank, {.kind = StepKind::publish,
               .via = via_publication(source.count),
               .peer = -1,
               .to = {},
               .from = source});
}

void PlanWriter::read_fold(Rank rank, Rank publisher, Blocks own, Blocks target) {
    read(rank, publisher, target);
    Step& step = plan_.steps[at(rank)].back();
    step.kind = StepKind::read_fold;
    step.from = own;
}

void PlanWriter::read(Rank rank, Rank publisher, Blocks target, std::uint32_t ordinal) {
    add(rank, {.kind = StepKind::read,
               .via = via_publication(target.count),
               .peer = publisher,
               .to = target,
               .from = {},
               .ordinal = ordinal});
}

void PlanWriter::offer(Rank owner, Rank writer, Blocks target, Blocks operand) {
    add(owner, {.kind = StepKind::offer,
                .via = Mechanism::push,
                .peer = writer,
                .to = target,
                .from = operand});
}

void PlanWriter::put(Rank rank, Rank owner, Blocks source) {
    add(rank,
        {.kind = StepKind::put, .via = Mechanism::push, .peer = owner, .to = {}, .from = source});
}

void PlanWriter::put_fold(Rank rank, Rank owner, Blocks source) {
    add(rank, {.kind = StepKind::put_fold,
               .via = Mechanism::push,
               .peer = owner,
               .to = {},
               .from = source,
               .ordinal = 0,
               .incoming_first = owner < rank});
}

void PlanWriter::receive(const Transfer& message) {
    if (message.own.count > 0) {
        fold(message.to, message.from, message.own, message.target);
    } else {
        recv(message.to, message.from, message.target);
    }
}

void PlanWriter::transfer(const Transfer& message) {
    send(message.from, message.to, message.source);
    receive(message);
}

void PlanWriter::round(std::span<const Transfer> messages) {
    const bool any_long = std::ranges::any_of(
        messages, [this](const Transfer& message) { return is_long(message.source.count); });
    const std::vector<bool> first =
        any_long ? senders_first(messages, size()) : std::vector<bool>(at(size()), true);
    for (const Transfer& message : messages) {
        if (first[at(message.from)]) {
            send(message.from, message.to, message.source);
        }
    }
    for (const Transfer& message : messages) {
        receive(message);
    }
    for (const Transfer& message : messages) {
        if (!first[at(message.from)]) {
            send(message.from, message.to, message.source);
        }
    }
}

void PlanWriter::barrier() {
    for (Rank distance = 1; distance < size(); distance *= 2) {
        for (Rank rank = 0; rank < size(); ++rank) {
            add(rank, {.kind = StepKind::signal, .peer = (rank + distance) % size()});
            add(rank, {.kind = StepKind::wait, .peer = (rank + size() - distance) % size()});
        }
    }
}

Plan PlanWriter::finished() && {
    if (via_ == Mechanism::pull) {
        plan::acknowledge(plan_);
    }
    return std::move(plan_);
}

} // namespace corymb

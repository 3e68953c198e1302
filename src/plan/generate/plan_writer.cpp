// SPDX-License-Identifier: Apache-2.0
#include "plan/generate/plan_writer.hpp"

#include "plan/acknowledge.hpp"
#include "plan/cells.hpp"
#include "plan/generate/rounds.hpp"
#include "plan/places.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace corymb {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// Orders messages so that each can be sent and received before the next. Every message has a turn,
/// in which its two ranks have no other; along a chain or an even cycle of messages two turns are
/// enough. Ranks with more than 63 messages have their last ones in one turn.
class Turns {
public:
    Turns(std::span<const Transfer> messages, Rank size)
        : messages_(messages), turn_(messages.size(), none), first_(at(size) + 1, 0),
          from_(messages.size()), taken_(at(size), 0) {
        std::vector<bool> has_source(at(size), false);
        for (const Transfer& message : messages) {
            ++first_[at(message.from) + 1];
            has_source[at(message.to)] = true;
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        next_ = first_;
        for (std::size_t i = 0; i < messages.size(); ++i) {
            from_[next_[at(messages[i].from)]++] = i;
        }
        next_ = first_;
        for (const bool chains : {true, false}) {
            for (const Transfer& message : messages) {
                if (!chains || !has_source[at(message.from)]) {
                    walk(message.from);
                }
            }
        }
    }

    [[nodiscard]] std::vector<std::size_t> order() const {
        std::vector<std::size_t> order(messages_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, std::ranges::less{},
                                 [this](std::size_t i) { return turn_[i]; });
        return order;
    }

private:
    static constexpr int none = -1;

    /// Gives turns to messages that follow each other, from a rank on.
    void walk(Rank rank) {
        while (next_[at(rank)] < first_[at(rank) + 1]) {
            const std::size_t message = from_[next_[at(rank)]++];
            std::uint64_t& of_sender = taken_[at(rank)];
            rank = messages_[message].to;
            std::uint64_t& of_receiver = taken_[at(rank)];
            turn_[message] = std::min(std::countr_one(of_sender | of_receiver), 63);
            of_sender |= std::uint64_t{1} << turn_[message];
            of_receiver |= std::uint64_t{1} << turn_[message];
        }
    }

    std::span<const Transfer> messages_;
    std::vector<int> turn_;
    std::vector<std::size_t> first_;   // by sender, and the end: its first place in from_
    std::vector<std::size_t> from_;    // messages by sender
    std::vector<std::size_t> next_;    // by sender: its next place in from_
    std::vector<std::uint64_t> taken_; // by rank: a bit for each turn
};

} // namespace

PlanWriter::PlanWriter(Collective op, Rank size, Rank root, const Transport& transport,
                       std::string_view algorithm, std::span<const int> node_of_rank)
    : via_(transport.via == Mechanism::line ? Mechanism::cells : transport.via),
      node_of_rank_(node_of_rank), publications_(at(size), 0) {
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

bool PlanWriter::fits_line(std::uint32_t places) const noexcept {
    return plan::most_bytes_of(plan_, places) <= line_payload_bytes;
}

Mechanism PlanWriter::via(Rank from, Rank to, std::uint32_t places) const noexcept {
    return is_far(from, to) ? Mechanism::network : fits_line(places) ? Mechanism::line : via_;
}

Mechanism PlanWriter::via_publication(std::uint32_t places) const noexcept {
    return places == 0 ? Mechanism::none : fits_line(places) ? Mechanism::line : Mechanism::pull;
}

bool PlanWriter::holds_sender(const Transfer& message) const noexcept {
    const std::uint32_t count = message.source.count;
    return via(message.from, message.to, count) == Mechanism::cells &&
           (count * plan_.block_bytes(plan_.bytes_max) > cell_bytes ||
            plan::cells_of(plan_, message.source) > cell_slots_least);
}

void PlanWriter::need_scratch(std::uint32_t places) {
    plan_.scratch_blocks = std::max(plan_.scratch_blocks, places);
}

void PlanWriter::send(Rank from, Rank to, Blocks source) {
    add(from, {.kind = StepKind::send,
               .via = via(from, to, source.count),
               .peer = to,
               .to = {},
               .from = source});
}

void PlanWriter::recv(Rank to, Rank from, Blocks target) {
    add(to,
        {.kind = StepKind::recv, .via = via(from, to, target.count), .peer = from, .to = target});
}

void PlanWriter::fold(Rank rank, Rank from, Blocks own, Blocks target) {
    add(rank, {.kind = StepKind::fold,
               .via = via(from, rank, target.count),
               .peer = from,
               .to = target,
               .from = own,
               .ordinal = 0,
               .incoming_first = from < rank});
}

void PlanWriter::copy(Rank rank, Blocks from, Blocks to) {
    add(rank, {.kind = StepKind::copy, .via = Mechanism::none, .peer = -1, .to = to, .from = from});
}

void PlanWriter::signal(Rank from, Rank to) {
    add(from, {.kind = StepKind::signal, .peer = to});
}

void PlanWriter::wait(Rank rank, Rank from) {
    add(rank, {.kind = StepKind::wait, .peer = from});
}

void PlanWriter::notify(Rank from, Rank to) {
    signal(from, to);
    wait(to, from);
}

void PlanWriter::meet(Rank rank, Rank peer, Blocks own, Blocks target) {
    const bool has_data = own.count > 0;
    Step step{.kind = has_data ? StepKind::send : StepKind::signal,
              .via = Mechanism::exchange,
              .peer = peer,
              .to = {},
              .from = own};
    add(rank, step);
    step.kind = has_data ? StepKind::fold : StepKind::wait;
    step.to = target;
    step.incoming_first = has_data && peer < rank;
    add(rank, step);
}

std::uint32_t PlanWriter::publish(Rank rank, Blocks source) {
    add(rank, {.kind = StepKind::publish,
               .via = via_publication(source.count),
               .peer = -1,
               .to = {},
               .from = source});
    return publications_[at(rank)]++;
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

void PlanWriter::lend(Rank rank, Blocks source) {
    add(rank,
        {.kind = StepKind::publish, .via = Mechanism::pull, .peer = -1, .to = {}, .from = source});
    ++publications_[at(rank)];
}

void PlanWriter::take(Rank rank, Rank owner, std::uint32_t offset, Blocks target) {
    add(rank, {.kind = StepKind::read,
               .via = Mechanism::pull,
               .peer = owner,
               .to = target,
               .from = {},
               .offset = offset});
}

void PlanWriter::take_fold(Rank rank, Rank owner, std::uint32_t offset, Blocks own, Blocks target) {
    take(rank, owner, offset, target);
    Step& step = plan_.steps[at(rank)].back();
    step.kind = StepKind::read_fold;
    step.from = own;
    step.incoming_first = owner < rank;
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
    if (message.own.count == 0) {
        recv(message.to, message.from, message.target);
        return;
    }
    fold(message.to, message.from, message.own, message.target);
    plan_.steps[at(message.to)].back().incoming_first |= message.precedes;
}

void PlanWriter::transfer(const Transfer& message) {
    send(message.from, message.to, message.source);
    receive(message);
}

void PlanWriter::round(std::span<const Transfer> messages) {
    std::vector<Transfer> far;
    std::vector<Transfer> near;
    for (const Transfer& message : messages) {
        if (message.source.count > 0) {
            (is_far(message.from, message.to) ? far : near).push_back(message);
        }
    }
    const auto send_one = [this](const Transfer& message) {
        send(message.from, message.to, message.source);
    };
    const auto receive_one = [this](const Transfer& message) {
        receive(message);
    };
    std::ranges::for_each(far, send_one);
    if (std::ranges::any_of(near,
                            [this](const Transfer& message) { return holds_sender(message); })) {
        for (const std::size_t i : Turns(near, size()).order()) {
            transfer(near[i]);
        }
    } else {
        std::ranges::for_each(near, send_one);
        std::ranges::for_each(near, receive_one);
    }
    std::ranges::for_each(far, receive_one);
}

void PlanWriter::give(std::span<const Gift> gifts) {
    if (via_ == Mechanism::pull) {
        store(gifts);
        return;
    }
    std::ranges::for_each(gifts, [this](const Gift& gift) { pass_down(gift); });
}

void PlanWriter::store(std::span<const Gift> gifts) {
    const auto is_empty = [this](const Gift& gift) {
        return gift.members.size() < 2 || (gift.blocks.count == 0 && plan_.block_count > 0);
    };
    std::vector<std::uint32_t> ordinals;
    for (const Gift& gift : gifts) {
        ordinals.push_back(is_empty(gift) ? 0 : publish(gift.from, gift.blocks));
    }
    const auto read_one = [&](std::size_t gift, Rank member) {
        if (!is_empty(gifts[gift]) && member != gifts[gift].from) {
            read(member, gifts[gift].from, gifts[gift].blocks, ordinals[gift]);
        }
    };
    if (!readers_begin_apart_) {
        for (std::size_t i = 0; i < gifts.size(); ++i) {
            for (const Rank member : gifts[i].members) {
                read_one(i, member);
            }
        }
        return;
    }
    using Members = std::pair<Rank, std::size_t>; // The first one and the number tell groups apart.
    std::map<Members, std::vector<std::size_t>> gifts_of;
    for (std::size_t i = 0; i < gifts.size(); ++i) {
        if (!is_empty(gifts[i])) {
            gifts_of[{gifts[i].members.front(), gifts[i].members.size()}].push_back(i);
        }
    }
    for (const auto& [group, list] : gifts_of) {
        const std::span<const Rank> members = gifts[list.front()].members;
        for (std::size_t place = 0; place < members.size(); ++place) {
            const std::size_t begin = place * list.size() / members.size();
            for (std::size_t turn = 0; turn < list.size(); ++turn) {
                read_one(list[(begin + turn) % list.size()], members[place]);
            }
        }
    }
}

/// Down a binomial tree over the members, counted from the giver.
void PlanWriter::pass_down(const Gift& gift) {
    const auto count = gift.members.size();
    const auto giver =
        static_cast<std::size_t>(std::ranges::find(gift.members, gift.from) - gift.members.begin());
    const auto member = [&](std::size_t place) {
        return gift.members[(giver + place) % count];
    };
    for (const std::vector<Hop>& round : binomial_rounds(count)) {
        for (const Hop& hop : round) {
            if (plan_.block_count == 0) {
                notify(member(hop.from), member(hop.to));
            } else if (gift.blocks.count > 0) {
                transfer({member(hop.from), member(hop.to), gift.blocks, gift.blocks, {}});
            }
        }
    }
}

void PlanWriter::barrier(std::span<const Rank> members) {
    const std::size_t count = members.size();
    for (std::size_t distance = 1; distance < count; distance *= 2) {
        for (std::size_t i = 0; i < count; ++i) {
            signal(members[i], members[(i + distance) % count]);
            wait(members[i], members[(i + count - distance) % count]);
        }
    }
}

void PlanWriter::barrier() {
    std::vector<Rank> everybody(at(size()));
    std::iota(everybody.begin(), everybody.end(), Rank{0});
    barrier(everybody);
}

Plan PlanWriter::finished() && {
    if (via_ == Mechanism::pull) {
        plan::acknowledge(plan_);
    }
    return std::move(plan_);
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "message/replay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace corymb::message {

namespace {

constexpr double not_yet = std::numeric_limits<double>::infinity();
constexpr std::size_t bits_per_word = 64;

std::size_t parts(std::size_t whole, std::size_t part) {
    return (whole + part - 1) / part;
}

} // namespace

Replay::Replay(const Machine& machine, std::span<const int> placement,
               const MailboxScenario& scenario)
    : protocol_(scenario.protocol), tickets_(scenario.tickets),
      charges_(machine, placement, scenario.look),
      members_(placement.size() + static_cast<std::size_t>(scenario.silent_members)),
      message_bytes_(scenario.message_bytes),
      lines_(parts(scenario.message_bytes + 8, charges_.line_bytes())),
      counter_owner_(placement.size()), vector_owner_(placement.size()),
      counter_free_(placement.size()), states_(placement.size()) {
    if (protocol_ == MailboxProtocol::ring) {
        looks_ = members_ - 1;
    } else if (protocol_ == MailboxProtocol::nvp) {
        // A byte for each sender in the original, a bit in Mailbox.
        peers_a_look_ = charges_.is_coherent() ? bits_per_word : charges_.line_bytes();
        looks_ = parts(members_, peers_a_look_);
    }
    for (std::size_t rank = 0; rank < placement.size(); ++rank) {
        counter_owner_[rank] = vector_owner_[rank] = static_cast<Rank>(rank);
    }
}

double Replay::idle_look() const {
    return charges_.idle_look(protocol_ == MailboxProtocol::srbp);
}

double Replay::idle_probe() const {
    return static_cast<double>(looks_) * idle_look();
}

Replay::Outcome Replay::run(const std::vector<Member>& members) {
    outcome_ = {};
    messages_.clear();
    std::ranges::fill(counter_free_, 0.0);
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
        State& state = states_[rank];
        state = {};
        if (members[rank].turns.empty()) {
            continue;
        }
        state.plan = &members[rank];
        state.at = members[rank].at % looks_;
        state.clock = is_waiting(state) ? 0 : members[rank].begin;
        wait_for_event(static_cast<Rank>(rank));
    }
    while (!events_.empty()) {
        const auto [time, rank] = events_.top();
        events_.pop();
        State& state = states_[static_cast<std::size_t>(rank)];
        if (state.next != time) {
            continue; // The member has found something earlier.
        }
        state.next = not_yet;
        step(rank, time);
        if (is_done(state)) {
            outcome_.end = std::max(outcome_.end, state.clock);
        } else {
            wait_for_event(rank);
        }
    }
    return outcome_;
}

/// Looks that find nothing are not events: the next one is the first that finds something.
void Replay::wait_for_event(Rank rank) {
    State& state = states_[static_cast<std::size_t>(rank)];
    if (is_done(state)) {
        return;
    }
    double next = is_waiting(state) ? not_yet : state.clock;
    if (is_waiting(state)) {
        for (const std::size_t index : state.inbox) {
            const double found = found_at(state, rank, messages_[index]);
            if (found < next) {
                next = found;
                state.next_at = position_of(messages_[index].from, rank);
            }
            if (protocol_ == MailboxProtocol::srbp) {
                break; // The first ticket, whether it is there or not.
            }
        }
    }
    if (next != not_yet && next != state.next) {
        state.next = next;
        events_.emplace(next, rank);
    }
}

std::size_t Replay::position_of(Rank from, Rank at) const {
    const auto sender = static_cast<std::size_t>(from);
    switch (protocol_) {
    case MailboxProtocol::ring: return from < at ? sender : sender - 1;
    case MailboxProtocol::nvp: return sender / peers_a_look_;
    default: return 0;
    }
}

double Replay::found_at(const State& state, Rank rank, const Message& message) const {
    if (message.visible == not_yet) {
        return not_yet;
    }
    const double look = idle_look();
    const double wait = std::max(0.0, message.visible - state.clock);
    auto looks = look > 0 ? static_cast<std::size_t>(std::ceil(wait / look)) : 0;
    const std::size_t position = position_of(message.from, rank);
    looks += (position + looks_ - (state.at + looks) % looks_) % looks_;
    return std::max(message.visible, state.clock + static_cast<double>(looks) * look);
}

bool Replay::is_waiting(const State& state) const {
    return state.received < state.plan->turns[state.turn].after;
}

bool Replay::is_done(const State& state) const {
    return state.turn == state.plan->turns.size();
}

void Replay::step(Rank rank, double time) {
    State& state = states_[static_cast<std::size_t>(rank)];
    if (is_waiting(state)) {
        state.clock = time;
        state.at = state.next_at;
        look(rank);
    }
    if (is_waiting(state)) {
        return;
    }
    const std::vector<Rank>& to = state.plan->turns[state.turn].to;
    if (state.sent < to.size()) {
        send(rank, to[state.sent]);
    }
    if (state.sent == to.size()) {
        state.sent = 0;
        ++state.turn;
    }
}

void Replay::send(Rank rank, Rank to) {
    State& state = states_[static_cast<std::size_t>(rank)];
    switch (state.stage) {
    case Stage::before: before(rank, to); break;
    case Stage::lines: lines(rank, to); break;
    case Stage::notice: notice(rank, to); break;
    }
    if (state.stage == Stage::before) {
        ++state.sent;
    }
}

/// Is the slot free, or which one is it.
void Replay::before(Rank rank, Rank to) {
    State& state = states_[static_cast<std::size_t>(rank)];
    const std::size_t message = messages_.size();
    messages_.push_back({rank, not_yet, 0});
    if (protocol_ == MailboxProtocol::srbp) {
        update(state, rank, to, counter_owner_[static_cast<std::size_t>(to)]);
    } else if (!charges_.is_coherent()) {
        state.clock += charges_.word(rank, rank).read; // The receiver's answer lies at the sender.
    }
    states_[static_cast<std::size_t>(to)].inbox.push_back(message);
    state.writing = message;
    state.stage = Stage::lines;
}

void Replay::lines(Rank rank, Rank to) {
    State& state = states_[static_cast<std::size_t>(rank)];
    const double begin = state.clock;
    double arrival = 0;
    const auto whole = charges_.message(rank, to, message_bytes_);
    const std::size_t writes = whole ? 1 : lines_;
    for (std::size_t done = 0; done < writes; ++done) {
        arrival = write(state, whole ? *whole : charges_.line(rank, to));
    }
    outcome_.data += arrival - begin;
    if (protocol_ == MailboxProtocol::nvp) {
        state.stage = Stage::notice;
        if (looks_at_rings()) { // It may be found before its bit is set.
            // The word with the bit is taken from the receiver, which looks at it all the time,
            // once the message has left. Half a way later the receiver has it again.
            messages_[state.writing].noted = arrival + 1.5 * charges_.word(to, rank).read;
            tell(to, state.writing, arrival);
        }
        return;
    }
    arrive(rank, to, arrival);
}

void Replay::notice(Rank rank, Rank to) {
    State& state = states_[static_cast<std::size_t>(rank)];
    double arrival = 0;
    if (looks_at_rings()) {
        state.clock += charges_.word(to, rank).read;
    } else if (charges_.is_coherent()) {
        update(state, rank, to, vector_owner_[static_cast<std::size_t>(to)]);
        arrival = state.clock;
    } else {
        arrival = write(state, charges_.word(rank, to));
    }
    arrive(rank, to, arrival);
}

void Replay::arrive(Rank rank, Rank to, double time) {
    State& state = states_[static_cast<std::size_t>(rank)];
    state.stage = Stage::before;
    if (!looks_at_rings()) {
        tell(to, state.writing, time);
    }
}

void Replay::tell(Rank to, std::size_t message, double time) {
    messages_[message].visible = time;
    if (states_[static_cast<std::size_t>(to)].plan != nullptr) {
        wait_for_event(to);
    }
}

double Replay::write(State& state, const AccessCost& cost) {
    state.clock = std::max(state.clock, state.port_free) + cost.write;
    state.port_free = state.clock + cost.gap;
    // The gap is the way there and back.
    return state.clock + cost.gap / 2;
}

void Replay::update(State& state, Rank rank, Rank to, Rank& owner) {
    if (charges_.is_coherent()) {
        state.clock += owner == rank ? charges_.own_update() : charges_.word(owner, rank).read;
        owner = rank;
        return;
    }
    const bool is_common = tickets_ == TicketCounter::common;
    double& free_at = counter_free_[is_common ? 0 : static_cast<std::size_t>(to)];
    const AccessCost cost = charges_.word(rank, is_common && rank != 0 ? 0 : to);
    double time = cost.read;
    if (tickets_ == TicketCounter::locked) {
        time += cost.read + cost.write + cost.gap + cost.write;
    }
    if (tickets_ == TicketCounter::own) {
        state.clock += time;
        return;
    }
    state.clock = std::max(state.clock, free_at) + time;
    free_at = state.clock;
}

std::vector<std::size_t> Replay::find(State& state, Rank rank) {
    const auto own = static_cast<std::size_t>(rank);
    std::vector<std::size_t> found;
    for (const std::size_t index : state.inbox) {
        const Message& message = messages_[index];
        if (message.visible <= state.clock && position_of(message.from, rank) == state.at) {
            found.push_back(index);
        }
        if (protocol_ == MailboxProtocol::srbp) {
            break;
        }
    }
    if (found.empty() || !charges_.is_coherent()) {
        state.clock += idle_look();
        return found;
    }
    const Rank writer = messages_[found.back()].from;
    if (protocol_ == MailboxProtocol::nvp && !looks_at_rings()) {
        // Fetches the word, and makes it its own.
        const Rank owner = vector_owner_[own];
        state.clock += charges_.word(owner, rank).read + charges_.word(rank, writer).write;
        vector_owner_[own] = rank;
    }
    return found;
}

void Replay::look(Rank rank) {
    State& state = states_[static_cast<std::size_t>(rank)];
    const std::vector<std::size_t> found = find(state, rank);
    for (const std::size_t message : found) {
        take(rank, message);
    }
    state.at = (state.at + 1) % looks_;
}

void Replay::take(Rank rank, std::size_t index) {
    State& state = states_[static_cast<std::size_t>(rank)];
    const Rank from = messages_[index].from;
    const double begin = state.clock;
    if (charges_.is_coherent()) {
        const auto whole = charges_.message(from, rank, message_bytes_);
        state.clock +=
            whole ? whole->read : static_cast<double>(lines_) * charges_.line(from, rank).read;
    } else {
        // The line that says that there is a message is its first one.
        const bool is_read = protocol_ == MailboxProtocol::ring;
        const std::size_t more = is_read ? lines_ - 1 : lines_;
        state.clock += static_cast<double>(more) * charges_.line(rank, rank).read;
    }
    outcome_.data += state.clock - begin;
    state.clock = std::max(state.clock, messages_[index].noted);
    if (!charges_.is_coherent() && protocol_ != MailboxProtocol::srbp) {
        // Tells the sender that there is room again.
        static_cast<void>(write(state, charges_.word(rank, from)));
    }
    std::erase(state.inbox, index);
    ++state.received;
}

} // namespace corymb::message

// SPDX-License-Identifier: Apache-2.0
// Mailboxes on a machine model, access by access, in the order of time.
#pragma once

#include "message/access_charges.hpp"

#include <corymb/mailbox_model.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace corymb::message {

/// A member's turn: it waits until it has got so many messages in all, then sends.
struct Turn {
    int after = 0;
    std::vector<Rank> to;
};

class Replay {
public:
    Replay(const Machine& machine, std::span<const int> placement, const MailboxScenario& scenario);

    struct Outcome {
        double end = 0;  ///< When the last member has done its last turn.
        double data = 0; ///< Time for writing and reading messages themselves, of all of them.
    };
    struct Member {
        std::vector<Turn> turns;
        double begin = 0;   ///< When it begins with its turns; it looks from 0 on.
        std::size_t at = 0; ///< First place of its looks, below `looks()`.
    };
    /// Runs the members once. The lines in each cache stay from run to run. Members without turns
    /// do nothing.
    Outcome run(const std::vector<Member>& members);

    /// Looks at all members once.
    [[nodiscard]] std::size_t looks() const noexcept { return looks_; }
    [[nodiscard]] double idle_probe() const;
    [[nodiscard]] const AccessCharges& charges() const noexcept { return charges_; }

private:
    enum class Stage : std::uint8_t { before, lines, notice };
    struct Message {
        Rank from = 0;
        double visible = 0;
        double noted = 0; ///< When its receiver has seen its bit, if it looks for that as well.
    };
    struct State {
        const Member* plan = nullptr;
        std::size_t turn = 0;
        std::size_t sent = 0; ///< Messages of this turn that were sent.
        int received = 0;
        Stage stage = Stage::before;
        /// The member's message that is on the way.
        std::size_t writing = 0;
        double next = std::numeric_limits<double>::infinity(); ///< Time of its next event.
        /// The place that this event looks at.
        std::size_t next_at = 0;
        double clock = 0;
        double port_free = 0; ///< When its next write can leave.
        std::size_t at = 0;
        std::vector<std::size_t> inbox; ///< In the order of the tickets, or of writing.
    };
    using Event = std::pair<double, Rank>;

    void step(Rank rank, double time);
    void wait_for_event(Rank rank);
    /// The look at which a message of `from` is found.
    [[nodiscard]] std::size_t position_of(Rank from, Rank at) const;
    /// When a member that looks from its clock on begins the look that finds the message.
    [[nodiscard]] double found_at(const State& state, Rank rank, const Message& message) const;
    [[nodiscard]] double idle_look() const;
    void send(Rank rank, Rank to);
    void before(Rank rank, Rank to);
    void lines(Rank rank, Rank to);
    void notice(Rank rank, Rank to);
    /// What a member has written is where it goes to.
    void arrive(Rank rank, Rank to, double time);
    /// From then on a look finds the message.
    void tell(Rank to, std::size_t message, double time);
    /// With nvp between two members of a Mailbox: a receiver that knows of one sender looks at its
    /// ring, and takes no bit.
    [[nodiscard]] bool looks_at_rings() const noexcept {
        return protocol_ == MailboxProtocol::nvp && charges_.is_coherent() && members_ == 2;
    }
    void look(Rank rank);
    void take(Rank rank, std::size_t message);
    /// The messages that a look finds; the look's time is added.
    std::vector<std::size_t> find(State& state, Rank rank);
    /// Returns when the write is where it goes to.
    double write(State& state, const AccessCost& cost);
    /// A read-modify-write of a word at `to`, which `owner` has changed last.
    void update(State& state, Rank rank, Rank to, Rank& owner);
    [[nodiscard]] bool is_waiting(const State& state) const;
    [[nodiscard]] bool is_done(const State& state) const;

    MailboxProtocol protocol_;
    TicketCounter tickets_;
    AccessCharges charges_;
    std::size_t members_; ///< Members that are looked at.
    std::size_t message_bytes_;
    std::size_t lines_; ///< Lines of a message.
    std::size_t looks_ = 1;
    std::size_t peers_a_look_ = 1; ///< Peers in one look, with nvp.
    std::vector<Rank> counter_owner_, vector_owner_;
    std::vector<double> counter_free_;
    std::vector<State> states_;
    std::vector<Message> messages_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    Outcome outcome_;
};

} // namespace corymb::message

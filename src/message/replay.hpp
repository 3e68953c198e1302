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

/// What a member does: it waits until it has got so many messages in all, then sends, and so on.
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
        std::size_t at = 0; ///< Where its looking begins, below `looks()`.
    };
    /// Whose cache has which line stays from run to run. Members without turns do nothing.
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
    };
    struct State {
        const Member* plan = nullptr;
        std::size_t turn = 0;
        std::size_t sent = 0; ///< Of this turn.
        int received = 0;
        Stage stage = Stage::before;
        std::size_t writing = 0;                               ///< Its message that is on the way.
        double next = std::numeric_limits<double>::infinity(); ///< Of its event that counts.
        std::size_t next_at = 0;                               ///< Where that one looks.
        double clock = 0;
        double port_free = 0; ///< When its next write can leave.
        std::size_t at = 0;
        std::vector<std::size_t> inbox; ///< In the order of the tickets, or of writing.
    };
    using Event = std::pair<double, Rank>;

    void step(Rank rank, double time);
    void wait_for_event(Rank rank);
    /// At which of the looks what `from` has sent is found.
    [[nodiscard]] std::size_t position_of(Rank from, Rank at) const;
    /// When a member that looks from its clock on begins the look that finds the message.
    [[nodiscard]] double found_at(const State& state, Rank rank, const Message& message) const;
    [[nodiscard]] double idle_look() const;
    void send(Rank rank, Rank to);
    void before(Rank rank, Rank to);
    void lines(Rank rank, Rank to);
    void notice(Rank rank, Rank to);
    void arrive(Rank rank, Rank to, double time);
    void look(Rank rank);
    void take(Rank rank, std::size_t message);
    /// Which messages a look finds; the look's time is added.
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
    std::size_t members_; ///< That are looked at.
    std::size_t lines_;   ///< Of a message.
    std::size_t looks_ = 1;
    std::size_t peers_a_look_ = 1; ///< Of nvp.
    std::vector<Rank> counter_owner_, vector_owner_;
    std::vector<double> counter_free_;
    std::vector<State> states_;
    std::vector<Message> messages_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    Outcome outcome_;
};

} // namespace corymb::message

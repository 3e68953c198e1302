// SPDX-License-Identifier: Apache-2.0
// Simulates one call on a machine model, event by event.
#include "channel/env.hpp"
#include "multicast/options.hpp"
#include "multicast/spread.hpp"
#include "sim/charges.hpp"

#include <corymb/multicast_model.hpp>

#include <algorithm>
#include <memory>
#include <queue>
#include <string>
#include <vector>

namespace corymb {

namespace {

using multicast::Position;

/// A member is reached by a task, or an answer is due at a counter.
struct Event {
    double time = 0;
    std::uint64_t number = 0; ///< Equal times in the order of their making.
    bool is_answer = false;
    Position who = 0; ///< The member that serves, or answers.
    std::uint32_t at = 0;
    Position end = 0; ///< Told: the range [who + 1, end) is to be forwarded; `at` told it.
    Position first = 0;

    bool operator>(const Event& other) const noexcept {
        return time != other.time ? time > other.time : number > other.number;
    }
};

class Replay {
public:
    Replay(const Machine& machine, std::span<const int> placement, const MulticastOptions& options,
           const MulticastCall& call)
        : order_(multicast::order_of(static_cast<int>(placement.size()), options)),
          shape_(shape_of(order_, machine, placement, options)), placement_(by_position(placement)),
          charges_(machine, placement_, 8), call_(call),
          words_(new Word[placement.size() / 64 + 1]), clock_(placement.size()),
          in_a_row_(placement.size()), counters_(placement.size() + 1) {
        check();
        begin_gather();
        result_.simulated_on = machine.name;
    }

    MulticastTimes run() {
        forward(initiator_, root(), 0, shape_.size);
        if (call_.members.empty()) {
            result_.latency = clock_[initiator_];
        }
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            event.is_answer ? answer(event) : serve(event);
        }
        return result_;
    }

private:
    using Word = channel::StandardEnv::Atomic<std::uint64_t>;

    static multicast::Shape shape_of(const multicast::Preorder& order, const Machine& machine,
                                     std::span<const int> placement,
                                     const MulticastOptions& options) {
        if (options.acknowledgement != MulticastAcknowledgement::gather || options.gather) {
            return multicast::shape_of(order, options);
        }
        MulticastOptions planned = options;
        planned.gather = plan_gather(machine, placement);
        return multicast::shape_of(order, planned);
    }
    [[nodiscard]] multicast::Snapshot<const Word> named() const noexcept {
        return multicast::Snapshot<const Word>(words_.get());
    }
    [[nodiscard]] bool gathers() const noexcept { return !shape_.gather.empty(); }
    /// Counters of the gather tree with what they wait for.
    void begin_gather() {
        gather_.resize(shape_.gather.size());
        for (std::uint32_t node = 0; node < shape_.gather.size(); ++node) {
            gather_[node].left = shape_.gather.expected(node, named());
            gather_[node].owner = node == 0 ? initiator_ : shape_.gather.position_of(node);
            gather_[node].parent = node == 0 ? 0 : shape_.gather.above(node);
        }
    }

    /// A counter's line: its holder, and the end of the holding.
    struct Counter {
        std::uint32_t left = 0;
        std::uint32_t parent = 0;
        Position owner = 0;
        double free_at = 0;
        bool is_begun = false; ///< Somebody has answered at a counter of the gather tree.
    };

    [[nodiscard]] std::uint32_t root() const noexcept { return shape_.size; }
    [[nodiscard]] Position holder(std::uint32_t at) const noexcept {
        return at == root() ? initiator_ : at;
    }
    [[nodiscard]] std::vector<int> by_position(std::span<const int> placement) const {
        std::vector<int> pus;
        for (const Rank rank : order_.rank_at) {
            pus.push_back(placement[static_cast<std::size_t>(rank)]);
        }
        return pus;
    }
    [[nodiscard]] Position position_of(Rank rank) const {
        if (rank < 0 || static_cast<std::size_t>(rank) >= order_.position_of.size()) {
            throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                    " is not one of the group's " +
                                                    std::to_string(order_.position_of.size()));
        }
        return order_.position_of[static_cast<std::size_t>(rank)];
    }
    void check() {
        initiator_ = position_of(call_.initiator);
        for (const Rank rank : call_.members) {
            const Position p = position_of(rank);
            const std::uint64_t before =
                words_[p / 64].fetch_or(multicast::bit_of(p), std::memory_order_relaxed);
            if ((before & multicast::bit_of(p)) != 0 || p == initiator_) {
                throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                        " is named twice, or is the initiator");
            }
        }
    }

    void push(Event event) {
        event.number = made_++;
        events_.push(event);
    }
    double send(Position from, Position to) {
        const auto a = static_cast<Rank>(from);
        const auto b = static_cast<Rank>(to);
        return charges_.send(a, b) * charges_.send_factor(a, b, ++in_a_row_[from], false);
    }
    [[nodiscard]] double receive(Position from, Position to) const {
        return charges_.receive(static_cast<Rank>(from), static_cast<Rank>(to));
    }

    /// The holder of a range tells its part of it, and counts whom it has told.
    void forward(Position teller, std::uint32_t counter, Position first, Position end) {
        double& clock = clock_[teller];
        const auto tell = [&](Position p, Position its_first, Position its_end) {
            clock += send(teller, p);
            ++result_.told;
            push({.time = clock, .who = p, .at = counter, .end = its_end, .first = its_first});
        };
        const auto pass = [&](Position /*passed*/) {
            clock += call_.test;
            ++result_.tested;
        };
        counters_[counter].left += multicast::spread(shape_, named(), first, end, tell, pass);
        counters_[counter].owner = teller;
        counters_[counter].free_at = clock;
    }

    void serve(const Event& told) {
        double& clock = clock_[told.who];
        clock = std::max(clock, told.time) + receive(holder(told.at), told.who);
        in_a_row_[told.who] = 0;
        forward(told.who, told.who, told.first, told.end);
        clock += call_.run;
        result_.last_run = std::max(result_.last_run, clock);
        if (gathers()) {
            push_answer(clock, told.who, shape_.gather.place_of(told.who));
            return;
        }
        std::uint32_t at = told.at;
        // The member's own answer is one of those that it collects.
        if (counters_[told.who].left != 0) {
            ++counters_[told.who].left;
            counters_[told.who].parent = told.at;
            at = told.who;
        }
        push({.time = clock, .is_answer = true, .who = told.who, .at = at});
    }

    /// A counter with one answer to come is passed by.
    void push_answer(double time, Position who, std::uint32_t node) {
        while (node != 0 && gather_[node].left == 1 && !gather_[node].is_begun) {
            node = gather_[node].parent;
        }
        push({.time = time, .is_answer = true, .who = who, .at = node});
    }
    void gather(const Event& event) {
        Counter& counter = gather_[event.at];
        if (event.at != 0 && !counter.is_begun && counter.owner == event.who) {
            counter.owner = shape_.gather.first_below(event.at);
        }
        counter.is_begun = true;
        double done = std::max(event.time, counter.free_at);
        if (counter.owner != event.who) {
            done += receive(counter.owner, event.who);
        }
        counter.owner = event.who;
        counter.free_at = done;
        clock_[event.who] = std::max(clock_[event.who], done);
        if (--counter.left != 0) {
            return;
        }
        if (event.at != 0) {
            push_answer(done, event.who, counter.parent);
        } else {
            result_.latency = std::max(clock_[initiator_], done + receive(event.who, initiator_));
        }
    }

    void answer(const Event& event) {
        if (gathers()) {
            gather(event);
            return;
        }
        Counter& counter = counters_[event.at];
        double done = event.time;
        Position last = event.who;
        if (!shape_.by_messages) {
            done = std::max(event.time, counter.free_at);
            if (counter.owner != event.who) {
                done += receive(counter.owner, event.who);
            }
            counter.owner = event.who;
            counter.free_at = done;
            clock_[event.who] = std::max(clock_[event.who], done);
        } else if (holder(event.at) != event.who) {
            last = holder(event.at);
            double& sender = clock_[event.who];
            sender = std::max(sender, event.time) + send(event.who, last);
            done = std::max(clock_[last], sender) + receive(event.who, last);
            clock_[last] = done;
            in_a_row_[last] = 0;
        }
        if (--counter.left != 0) {
            return;
        }
        if (event.at != root()) {
            push({.time = done, .is_answer = true, .who = last, .at = counter.parent});
        } else {
            const bool has_it = last == initiator_;
            result_.latency =
                std::max(clock_[initiator_], has_it ? done : done + receive(last, initiator_));
        }
    }

    multicast::Preorder order_;
    multicast::Shape shape_;
    std::vector<int> placement_; ///< By position.
    sim::Charges charges_;
    const MulticastCall& call_;
    std::unique_ptr<Word[]> words_;
    Position initiator_ = 0;
    std::vector<double> clock_;
    std::vector<int> in_a_row_;
    std::vector<Counter> counters_; ///< By position; the last one is the initiator's.
    std::vector<Counter> gather_;   ///< By node of the gather tree.
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t made_ = 0;
    MulticastTimes result_;
};

} // namespace

MulticastTimes simulate_multicast(const Machine& machine, std::span<const int> placement,
                                  const MulticastOptions& options, const MulticastCall& call) {
    return Replay(machine, placement, options, call).run();
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "channel/patience.hpp"

#include "base/clock.hpp"
#include "channel/tuning.hpp"

#include <algorithm>
#include <limits>
#include <sched.h>
#include <utility>

namespace corymb::channel {

namespace {

constexpr std::int64_t forever_ns = tuning::never_ns;
// Bounds: budgets can grow again from the least one, and no payload makes a wait endless.
constexpr std::int64_t budget_least = 1'000;
constexpr std::int64_t moving_most = 20'000'000;

std::int64_t spin_most() noexcept {
    return tuning::sleep_ns;
}
std::int64_t yield_most() noexcept {
    return tuning::yield_sleeps * tuning::sleep_ns;
}

/// After long waits the spin budget for large payloads shrinks as well.
std::int64_t worn(std::int64_t moving_ns, std::int64_t budget, std::int64_t budget_max) noexcept {
    return budget_max == 0 ? 0 : moving_ns * std::min(budget, budget_max) / budget_max;
}

/// Without knowledge of teammates the answer is yes: one may want the CPU.
bool wants_the_cpu(Teammates* teammates) noexcept {
    return teammates == nullptr || teammates->want_the_cpu();
}

std::int64_t take_turn(Teammates* teammates) noexcept {
    return teammates == nullptr ? 0 : teammates->take_turn();
}

class SystemClock final : public Clock {
public:
    std::int64_t now_ns() noexcept override { return corymb::now_ns(); }
    void yield() noexcept override { ::sched_yield(); }
};

} // namespace

Clock& system_clock() noexcept {
    static constinit SystemClock clock;
    return clock;
}

Patience::Patience(WaitPolicy policy, bool oversubscribed, Clock& clock) noexcept
    : clock_(&clock), asks_(policy == WaitPolicy::ladder && !oversubscribed),
      is_crowded_(oversubscribed),
      quick_looks_(oversubscribed ? tuning::looks_crowded : tuning::looks_alone),
      spin_ns_max_(oversubscribed ? 0 : spin_most()), yield_ns_max_(yield_most()) {
    switch (policy) {
    case WaitPolicy::ladder: break;
    case WaitPolicy::spin:
        spin_ns_max_ = forever_ns;
        yield_ns_max_ = 0;
        break;
    case WaitPolicy::yield:
        spin_ns_max_ = 0;
        yield_ns_max_ = forever_ns;
        break;
    case WaitPolicy::park:
        quick_looks_ = 1;
        spin_ns_max_ = yield_ns_max_ = 0;
        break;
    }
    spin_ns_ = spin_ns_max_;
    yield_ns_ = yield_ns_max_;
}

Patience::Outcome Patience::wait_awake(const Look& look, const Look& stop, Teammates* teammates,
                                       std::int64_t begin_ns) noexcept {
    ask_who_is_here(teammates, begin_ns);
    Outcome outcome = spin(look, stop, begin_ns);
    if (outcome == Outcome::exhausted && !is_crowded_) {
        ask_who_is_here(teammates, clock_->now_ns()); // A teammate may have come meanwhile.
    }
    if (outcome == Outcome::exhausted && gives_turns()) {
        outcome = yield(look, stop, teammates, begin_ns);
    }
    if (outcome == Outcome::satisfied) {
        learn_from_awake();
    }
    return outcome;
}

void Patience::ask_who_is_here(Teammates* teammates, std::int64_t now_ns) noexcept {
    if (asks_ && teammates != nullptr) {
        is_crowded_ = teammates->are_here(now_ns);
        quick_looks_ = is_crowded_ ? tuning::looks_crowded : tuning::looks_alone;
    }
}

bool Patience::gives_turns() const noexcept {
    return yield_ns_max_ == forever_ns || (yield_ns_max_ > 0 && is_crowded_);
}

Patience::Outcome Patience::spin(const Look& look, const Look& stop,
                                 std::int64_t begin_ns) noexcept {
    if (asks_ && is_crowded_) {
        return Outcome::exhausted;
    }
    const std::int64_t budget = spin_budget();
    while (clock_->now_ns() - begin_ns < budget) {
        if (look_for_a_while(look, tuning::looks_per_clock)) {
            return Outcome::satisfied;
        }
        if (stop()) {
            return Outcome::stopped;
        }
    }
    return Outcome::exhausted;
}

Patience::Outcome Patience::yield(const Look& look, const Look& stop, Teammates* teammates,
                                  std::int64_t begin_ns) noexcept {
    std::int64_t now = clock_->now_ns();
    Stranger& stranger = stranger_of(teammates);
    yields_ = yield_ns_max_ == forever_ns || !stranger.is_here(now);
    if (!yields_) {
        return Outcome::exhausted;
    }
    bool has_yielded = false;
    std::int64_t turns = take_turn(teammates);
    const std::int64_t moving = yield_ns_max_ == yield_most() ? moving_ns() : 0;
    const std::int64_t budget = spin_budget() + yield_ns_ + worn(moving, yield_ns_, yield_most());
    while (now - begin_ns < budget) {
        if (look()) {
            note_end(now - begin_ns);
            return Outcome::satisfied;
        }
        if (stop()) {
            return Outcome::stopped;
        }
        if (now - begin_ns < tuning::keep_ns && !wants_the_cpu(teammates)) {
            if (look_for_a_while(look, tuning::looks_per_clock)) {
                note_end(now - begin_ns);
                return Outcome::satisfied;
            }
            now = clock_->now_ns();
            continue;
        }
        if (!std::exchange(has_yielded, true)) {
            yield_credit_.begin_wait();
        }
        clock_->yield();
        const std::int64_t before = std::exchange(now, clock_->now_ns());
        const std::int64_t turns_before = std::exchange(turns, take_turn(teammates));
        // A turn for copies belongs to one of two operations, so half of their time counts.
        // Teammates that sleep have short turns, but many, for they wake each other for every
        // message: each may take as long as a sleep. If each of them found that too long and slept
        // on, none would come back to yielding.
        const std::int64_t of_teammates = moving / 2 + (turns - turns_before) * tuning::sleep_ns;
        const std::int64_t lost = now - before - of_teammates;
        if (yield_ns_max_ == yield_most() && !yield_credit_.is_worth(lost) &&
            !averages_.say_yield()) {
            stranger.note(lost, now);
        }
    }
    return Outcome::exhausted;
}

void Patience::let_go_first(const Look& gone, Teammates* teammates) noexcept {
    if (!gives_turns() || stranger_of(teammates).is_here(clock_->now_ns()) || gone()) {
        return;
    }
    const std::int64_t begin = clock_->now_ns();
    for (int turns = 0; turns < tuning::given_most;) {
        if (wants_the_cpu(teammates) || clock_->now_ns() - begin >= tuning::keep_ns) {
            clock_->yield();
            take_turn(teammates);
            ++turns;
        }
        if (look_for_a_while(gone, tuning::looks_per_clock)) {
            return;
        }
    }
}

void YieldCredit::begin_wait() noexcept {
    credit_ns_ = std::min(credit_ns_ + tuning::sleep_ns, tuning::credit_most_ns.value());
}

bool YieldCredit::is_worth(std::int64_t yield_ns) noexcept {
    const std::int64_t balance = credit_ns_ - std::max<std::int64_t>(yield_ns, 0);
    credit_ns_ = std::clamp<std::int64_t>(balance, 0, tuning::credit_most_ns);
    return yield_ns <= tuning::slice_sleeps * tuning::sleep_ns || balance >= 0;
}

void WaitAverages::Average::add(double waited_ns) noexcept {
    count = std::min(count + 1, tuning::remembered.value());
    ns += (waited_ns - ns) / static_cast<double>(count);
}

void WaitAverages::count(bool yields, std::int64_t waited_ns) noexcept {
    (yields ? yielding_ : asleep_)
        .add(static_cast<double>(std::min(waited_ns, tuning::counted_most_ns.value())));
    answers_ = yields ? answers_ : 0;
}

bool WaitAverages::say_yield() noexcept {
    const bool are_shorter =
        know_sleeps() && yielding_.count >= tuning::known && yielding_.ns < asleep_.ns;
    answers_ += are_shorter ? 1 : 0;
    return are_shorter;
}

bool WaitAverages::know_sleeps() const noexcept {
    return asleep_.count >= tuning::known && answers_ < tuning::answers_most;
}

/// Counts a wait that neither a spin nor the first looks have ended.
void Patience::note_end(std::int64_t waited_ns) noexcept {
    if (yield_ns_max_ == yield_most() && is_crowded_) {
        averages_.count(yields_, waited_ns);
    }
}

Stranger& Patience::stranger_of(Teammates* teammates) noexcept {
    Stranger* const shared = teammates == nullptr ? nullptr : teammates->stranger();
    return shared == nullptr ? own_stranger_ : *shared;
}

/// How long peers may need for the bytes that they move.
std::int64_t Patience::moving_ns() const noexcept {
    const auto bytes = static_cast<double>(std::min<std::uint64_t>(bytes_, 1U << 30U));
    return std::min(static_cast<std::int64_t>(bytes * tuning::ns_of_byte), moving_most);
}

std::int64_t Patience::spin_budget() const noexcept {
    if (spin_ns_max_ == 0 || spin_ns_max_ == forever_ns) {
        return spin_ns_;
    }
    return spin_ns_ + worn(moving_ns(), spin_ns_, spin_ns_max_);
}

void Patience::learn_from_sleep(std::int64_t waited_ns) noexcept {
    note_end(waited_ns);
    if (waited_ns > tuning::long_wait_sleeps * tuning::sleep_ns + moving_ns()) {
        spin_ns_ = std::min(spin_ns_max_, std::max(spin_ns_ / 2, budget_least));
        yield_ns_ = std::min(yield_ns_max_, std::max(yield_ns_ / 2, budget_least));
        return;
    }
    if (!is_crowded_) {
        spin_ns_ = std::min(tuning::stretch_most * spin_ns_max_, spin_ns_ * 2);
    }
    yield_ns_ = std::min(yield_ns_max_, yield_ns_ * 2);
}

void Patience::learn_from_awake() noexcept {
    // Back to the usual budget: fast from below, slowly from above.
    spin_ns_ = spin_ns_ < spin_ns_max_ ? std::min(spin_ns_max_, spin_ns_ * 2)
                                       : std::max(spin_ns_max_, spin_ns_ - spin_ns_ / 16);
    yield_ns_ = std::min(yield_ns_max_, yield_ns_ * 2);
}

} // namespace corymb::channel

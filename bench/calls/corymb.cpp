// SPDX-License-Identifier: Apache-2.0
// Rank 0 calls rank 1.
#include "caller.hpp"

#include <corymb/object_group.hpp>
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>
#include <corymb/when.hpp>

#include <array>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

using Bytes64 = std::array<char, 64>;

class Thing {
public:
    long add(long by) { return count_ += by; }
    void do_work(std::uint64_t amount) const noexcept { work(amount); }

private:
    long count_ = 0;
};
class ExclusiveThing : public Thing {
public:
    static constexpr bool is_exclusive = true;
};

template <class Call>
Task<> repeat(Repetition& all, Call call) {
    bool is_over = false;
    while (!is_over) {
        co_await call();
        is_over = all.is_over();
    }
}
template <class Call>
Task<> repeat(Repetition all, double& ns, Call call) {
    co_await repeat(all, std::move(call));
    ns = all.ns_each();
}

/// What a kind of call does for each operation: a task that ends when the time is over.
using Measure = std::function<Task<>(CallOp op, Clock::duration budget, double& ns)>;
using Step = std::function<Task<>(std::uint64_t amount, Clock::duration budget, double& ns)>;

Task<> work_here(std::uint64_t amount) {
    work(amount);
    co_return;
}
Task<> work_there(std::uint64_t amount) {
    co_await at(1, [](std::uint64_t some) { work(some); }, amount);
}

Task<> time_calls(CallOp op, Clock::duration budget, double& ns) {
    if (op == CallOp::bytes64) {
        return repeat(Repetition(budget), ns,
                      [] { return at(1, [](const Bytes64& all) { return all; }, Bytes64{}); });
    }
    const Rank rank = op == CallOp::own ? 0 : 1;
    return repeat(Repetition(budget), ns, [rank] { return at(rank, [] {}); });
}
Task<> step_calls(std::uint64_t amount, Clock::duration budget, double& ns) {
    return repeat(steps_of(amount, budget), ns,
                  [amount] { return when_all(work_there(amount), work_here(amount)); });
}

Task<> time_methods(CallOp op, Clock::duration budget, double& ns) {
    const Remote<Thing> thing = co_await create<Thing>(op == CallOp::own ? 0 : 1);
    co_await repeat(Repetition(budget), ns, [thing] { return thing.call<&Thing::add>(1L); });
}
Task<> time_exclusive(CallOp op, Clock::duration budget, double& ns) {
    const Remote<ExclusiveThing> thing = co_await create<ExclusiveThing>(op == CallOp::own ? 0 : 1);
    co_await repeat(Repetition(budget), ns,
                    [thing] { return thing.call<&ExclusiveThing::add>(1L); });
}

Task<> time_tasks(CallOp /*op*/, Clock::duration budget, double& ns) {
    return repeat(Repetition(budget), ns, [] { return at(1, []() -> Task<> { co_return; }); });
}

Task<> time_posts(CallOp /*op*/, Clock::duration budget, double& ns) {
    Repetition all(budget);
    co_await repeat(all, [] { return post(1, [](int) {}, 1); });
    co_await at(1, [] {}); // Behind all of them.
    ns = all.ns_each();
}

Task<> time_tells(CallOp /*op*/, Clock::duration budget, double& ns) {
    Repetition all(budget);
    co_await finish(
        [&all]() -> Task<> { co_await repeat(all, [] { return tell(1, [](int) {}, 1); }); });
    ns = all.ns_each();
}
Task<> tell_and_work(std::uint64_t amount) {
    co_await finish([amount]() -> Task<> {
        co_await tell(1, [](std::uint64_t some) { work(some); }, amount);
        work(amount);
    });
}
Task<> step_tells(std::uint64_t amount, Clock::duration budget, double& ns) {
    return repeat(steps_of(amount, budget), ns, [amount] { return tell_and_work(amount); });
}

Task<> step_groups(std::uint64_t amount, Clock::duration budget, double& ns) {
    const std::vector<Rank> both{0, 1};
    const auto group = co_await create_group<Thing>(both);
    co_await repeat(steps_of(amount, budget), ns,
                    [group, amount] { return group.step<&Thing::do_work>(amount); });
}

class Ranks final : public Caller {
public:
    Ranks(Measure measure, Step step) : measure_(std::move(measure)), step_(std::move(step)) {}
    double time(CallOp op, Clock::duration budget) override {
        return run([&](double& ns) { return measure_(op, budget, ns); });
    }
    double time_step(std::uint64_t amount, Clock::duration budget) override {
        return run([&](double& ns) { return step_(amount, budget, ns); });
    }

private:
    template <class Make>
    double run(const Make& make) {
        RemoteGroup group(2, {.message_bytes = 120});
        double ns = 0;
        const std::jthread other([&group] {
            bind_end(1);
            group.join(1).run([]() -> Task<> {
                co_return;
            }());
        });
        bind_end(0);
        group.join(0).run(make(ns));
        return ns;
    }
    Measure measure_;
    Step step_;
};

CallContestant contestant(const char* name, std::vector<CallOp> ops, const Measure& measure,
                          const Step& step = {}) {
    return {name, "corymb", std::move(ops), [measure, step] {
                return std::make_unique<Ranks>(measure, step);
            }};
}

} // namespace

std::vector<CallContestant> corymb_callers() {
    using enum CallOp;
    return {contestant("corymb call", {empty, bytes64, own, half, most}, time_calls, step_calls),
            contestant("corymb method", {empty, own}, time_methods),
            contestant("corymb exclusive method", {empty, own}, time_exclusive),
            contestant("corymb task", {empty}, time_tasks),
            contestant("corymb post", {one_way}, time_posts),
            contestant("corymb tell", {one_way, half, most}, time_tells, step_tells),
            contestant("corymb group step", {half, most}, {}, step_groups)};
}

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// The C++ Actor Framework: an actor with a thread of its own answers requests.
#include "caller.hpp"

#if defined(CORYMB_BENCH_CAF)

#include <caf/all.hpp>
#include <stdexcept>

namespace corymb::bench {
namespace {

caf::behavior worker(caf::event_based_actor* /*self*/) {
    bind_end(1);
    return {[](std::uint64_t amount) {
        work(amount);
        return amount;
    }};
}

class Actors final : public Caller {
public:
    Actors() { bind_end(0); }
    ~Actors() override { self_->send_exit(worker_, caf::exit_reason::user_shutdown); }
    Actors(const Actors&) = delete;
    Actors& operator=(const Actors&) = delete;

    double time(CallOp /*op*/, Clock::duration budget) override {
        Repetition all(budget);
        do {
            step(0);
        } while (!all.is_over());
        return all.ns_each();
    }
    double time_step(std::uint64_t amount, Clock::duration budget) override {
        Repetition all = steps_of(amount, budget);
        do {
            step(amount);
        } while (!all.is_over());
        return all.ns_each();
    }

private:
    void step(std::uint64_t amount) {
        auto answer = self_->request(worker_, caf::infinite, amount);
        work(amount);
        answer.receive([](std::uint64_t) {},
                       [](const caf::error&) { throw std::runtime_error("a request failed"); });
    }
    caf::actor_system_config options_;
    caf::actor_system system_{options_};
    caf::actor worker_ = system_.spawn<caf::detached>(worker);
    caf::scoped_actor self_{system_};
};

} // namespace

std::vector<CallContestant> caf_callers() {
    using enum CallOp;
    return {{"CAF request", "peer", {empty, half, most}, std::make_unique<Actors>}};
}

} // namespace corymb::bench

#else

namespace corymb::bench {

std::vector<CallContestant> caf_callers() {
    return {};
}

} // namespace corymb::bench

#endif

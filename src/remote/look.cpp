// SPDX-License-Identifier: Apache-2.0
#include "remote/look.hpp"

#include "base/clock.hpp"
#include "remote/tuning.hpp"
#include "remote/waits_codec.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

namespace corymb::detail {

struct Look::Question final : AnswerTaker {
    explicit Question(Look& of) noexcept : look(&of) {}
    void settle(RemoteReader& answer) noexcept override {
        call = Reply::nobody;
        try {
            look->note(RemoteCodec<RankWaits>::read(answer));
        } catch (...) {
            look->fail(std::current_exception());
        }
        look->end_one();
    }
    void settle(std::exception_ptr failure) noexcept override {
        call = Reply::nobody;
        look->fail(std::move(failure));
        look->end_one();
    }
    Look* look;
    std::uint32_t call = Reply::nobody; ///< While it has no answer.
};

Look::Look(RemoteState& of, int rounds, Suspension* waits)
    : of_(&of), left_(rounds), waits_(waits) {}

Look::~Look() {
    for (const auto& question : asked_) {
        if (question != nullptr && question->call != Reply::nobody) {
            of_->neglect_look(question->call);
        }
    }
}

void Look::begin(std::vector<Rank> first) {
    first_ = std::move(first);
    begin_round();
}

void Look::begin_round() {
    shown_.emplace_back();
    asked_.clear();
    asked_.resize(static_cast<std::size_t>(of_->transport.size()));
    ++open_; // So that no round ends while it begins.
    try {
        for (const Rank rank : first_) {
            ask(rank);
        }
    } catch (...) {
        fail(std::current_exception());
    }
    end_one();
}

void Look::ask(Rank rank) {
    auto& question = asked_[static_cast<std::size_t>(rank)];
    if (question != nullptr) {
        return;
    }
    question = std::make_unique<Question>(*this);
    if (rank == of_->transport.rank()) {
        note(of_->waits());
        return;
    }
    try {
        question->call = of_->begin_look(rank, *question);
        ++open_;
    } catch (...) {
        fail(std::current_exception());
    }
}

/// The ranks whose tasks those of this one wait for, or answer.
void Look::note(RankWaits shown) {
    shown_.back().push_back(std::move(shown));
    std::vector<Rank> next;
    for (const TaskWait& task : shown_.back().back().tasks) {
        if (task.kind != TaskWait::Kind::nothing && task.serves.from >= 0) {
            next.push_back(task.serves.from);
        }
        for (const CallUnderWay& call : task.calls) {
            next.push_back(call.to);
        }
    }
    for (const Rank rank : next) {
        ask(rank);
    }
}

void Look::end_one() noexcept {
    if (--open_ != 0) {
        return;
    }
    if (--left_ != 0 && failure_ == nullptr) {
        try {
            begin_round();
        } catch (...) {
            fail(std::current_exception());
            left_ = 0;
        }
    } else {
        left_ = 0;
    }
    if (left_ == 0 && waits_ != nullptr) {
        std::exchange(waits_, nullptr)->wake();
    }
}

/// That a rank has left is no failure of the look.
void Look::fail(std::exception_ptr failure) noexcept {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        if (error.code() == Errc::team_broken) {
            return;
        }
    } catch (...) { // Kept below.
    }
    failure_ = failure_ == nullptr ? std::move(failure) : failure_;
}

std::uint32_t RemoteState::begin_look(Rank to, AnswerTaker& taker) {
    CallHeader header;
    header.kind = CallHeader::look;
    const auto nothing = [](RemoteWriter& /*to*/) {
    };
    return begin(to, {&taker, nullptr, false}, header, 0, Reply::Writes(nothing), nullptr).call;
}

void RemoteState::watch_for_deadlock() noexcept {
    SchedulerState& all = turns();
    if (deadlock_after_ns_ == 0 || all.main == nullptr ||
        (all.is_stop_expected && trace_ == nullptr)) {
        return;
    }
    if (look_ != nullptr && look_->is_over()) {
        try {
            end_deadlock(*look_);
        } catch (...) { // No memory: the next look may have some.
        }
        look_.reset();
        return;
    }
    if (look_ != nullptr && trace_ == nullptr) {
        return;
    }
    const std::int64_t now = now_ns();
    if (look_ != nullptr) {
        if (now >= look_at_ns_) { // A rank that it has asked does not look at its messages.
            look_at_ns_ = now + look_pause_ns_;
            note_shown(*look_, std::nullopt);
        }
    } else if (all.main->turn != watched_turn_) {
        watched_turn_ = all.main->turn;
        look_pause_ns_ = deadlock_after_ns_;
        look_at_ns_ = now + look_pause_ns_;
    } else if (now >= look_at_ns_) {
        look_pause_ns_ =
            std::max(deadlock_after_ns_,
                     std::min(2 * look_pause_ns_, remote::tuning::longest_look_pause_ns.value()));
        look_at_ns_ = now + look_pause_ns_;
        try {
            look_ = std::make_unique<Look>(*this, 2, nullptr);
            look_->begin({transport.rank()});
        } catch (...) { // As above.
            look_.reset();
        }
    }
}

void RemoteState::note_shown(const Look& look, const std::optional<Deadlock>& found) noexcept {
    try {
        trace_->note(look.shown().back(), found);
    } catch (...) { // The file stays as it is.
    }
}

/// Ends the tasks of `run` if one of them cannot go on. Tasks that other ranks have called are
/// asked to stop by their callers.
void RemoteState::end_deadlock(const Look& look) {
    if (look.failure() != nullptr) {
        return;
    }
    const auto found = deadlock_in(look.shown()[0], look.shown()[1]);
    if (trace_ != nullptr) {
        note_shown(look, found);
    }
    if (!found || turns().is_stop_expected) {
        return;
    }
    SchedulerState& all = turns();
    std::unordered_set<std::uint64_t> stuck_here;
    for (const Deadlock::Stuck& one : found->stuck) {
        if (one.rank == transport.rank()) {
            stuck_here.insert(one.wait);
        }
    }
    const bool is_of_run = std::ranges::any_of(all.strands, [&](const auto& strand) {
        return !strand->is_over && stuck_here.contains(strand->turn) &&
               strand->token == all.stop.get_token();
    });
    if (is_of_run) {
        all.keep_error(std::make_exception_ptr(
            Error(Errc::deadlock,
                  found->text() + "; take objects in one order, let methods interleave "
                                  "(call_rule), or set limits (within)",
                  found->ranks())));
    }
}

void RemoteState::show(Rank to, std::uint32_t call) noexcept {
    const Reply reply(*this, to, call);
    try {
        require_own_build(to);
        reply.answer(waits());
    } catch (...) {
        send_failure(reply, std::current_exception());
    }
}

namespace {

class LookAwait final : public Suspension {
public:
    explicit LookAwait(int rounds) noexcept : rounds_(rounds) {}
    static constexpr bool await_ready() noexcept { return false; }
    template <TaskPromiseOf P>
    bool await_suspend(std::coroutine_handle<P> awaiting) {
        Strand& own = *awaiting.promise().strand;
        RemoteState& here = remote_state(own);
        std::vector<Rank> all(static_cast<std::size_t>(here.transport.size()));
        std::iota(all.begin(), all.end(), 0);
        begin(own, awaiting, what);
        look_ = std::make_unique<Look>(here, rounds_, this);
        look_->begin(std::move(all));
        return true;
    }
    std::vector<std::vector<RankWaits>> await_resume() {
        require_not_stopped(what);
        if (look_->failure() != nullptr) {
            std::rethrow_exception(look_->failure());
        }
        return look_->shown();
    }

private:
    static constexpr const char* what = "other ranks that show their tasks";
    void withdraw() noexcept override { look_.reset(); }
    int rounds_;
    std::unique_ptr<Look> look_;
};

} // namespace
} // namespace corymb::detail

namespace corymb {

Task<std::vector<RankWaits>> waits_of_all() {
    auto shown = co_await detail::LookAwait(1);
    co_return std::move(shown.front());
}

Task<std::optional<Deadlock>> find_deadlock() {
    const auto shown = co_await detail::LookAwait(2);
    co_return deadlock_in(shown[0], shown[1]);
}

} // namespace corymb

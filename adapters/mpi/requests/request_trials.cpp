// SPDX-License-Identifier: Apache-2.0
#include "requests/request_trials.hpp"

#include "below/clock.hpp"
#include "requests/requests.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

namespace corymb::mpi {

namespace {

struct UnderWay {
    Communicator* communicator;
    Trial* trial; ///< Null: an early call.
    Trial::Attempt attempt;
    MPI_Request request;
    Trial::Span span;    ///< The time in the two calls, without the time between them.
    std::int64_t cpu_ns; ///< The time of a CPU in them, for an early call.

    [[nodiscard]] Measure measure() const noexcept {
        return trial != nullptr ? trial->measure() : Measure::longest;
    }
    /// The program has completed it.
    void end() const noexcept {
        if (trial != nullptr) {
            trial->add(attempt, span);
        } else {
            communicator->early_sample.add(span.end_ns - span.begin_ns, cpu_ns);
        }
    }
};

/// Never destroyed: MPI may call back while the process ends. The lock also guards trials of
/// requests, which one thread may start and another complete.
struct Table {
    std::mutex lock;
    std::vector<UnderWay> calls;
};

Table& table() {
    static auto* const one = new Table;
    return *one;
}

/// Under the lock. Throws std::bad_alloc.
void enter(Table& all, const UnderWay& call) {
    all.calls.push_back(call);
    attempts_under_way.store(static_cast<int>(all.calls.size()), std::memory_order_relaxed);
}

/// Under the lock.
template <class Where>
void drop(Table& all, const Where& where) noexcept {
    std::erase_if(all.calls, where);
    attempts_under_way.store(static_cast<int>(all.calls.size()), std::memory_order_relaxed);
}

} // namespace

void watch(Communicator& communicator, Trial& trial, const Trial::Attempt& attempt,
           MPI_Request request, const Trial::Span& start) noexcept {
    if (!attempt.counts) {
        return;
    }
    communicator.forget_requests.store(&forget_communicator, std::memory_order_release);
    Table& all = table();
    const std::lock_guard lock(all.lock);
    if (request == host().request_null) {
        trial.add(attempt, start);
        return;
    }
    try {
        enter(all, {&communicator, &trial, attempt, request, start, 0});
    } catch (const std::exception&) { // The trial lacks a call, and ends without a winner.
    }
}

void watch_early(Communicator& communicator, MPI_Request request, const Trial::Span& start,
                 std::int64_t cpu_ns) noexcept {
    communicator.forget_requests.store(&forget_communicator, std::memory_order_release);
    Table& all = table();
    const std::lock_guard lock(all.lock);
    const auto is_watched = [&](const UnderWay& call) {
        return call.communicator == &communicator && call.trial == nullptr;
    };
    if (std::ranges::any_of(all.calls, is_watched)) {
        return;
    }
    const UnderWay call{&communicator, nullptr, {}, request, start, cpu_ns};
    if (request == host().request_null) {
        call.end();
        return;
    }
    try {
        enter(all, call);
    } catch (const std::exception&) { // The sample is the smaller.
    }
}

RequestSample early_sample(const Communicator& communicator) noexcept {
    const std::lock_guard lock(table().lock);
    return communicator.early_sample;
}

void forget_attempts(const Communicator& communicator) noexcept {
    if (attempts_under_way.load(std::memory_order_relaxed) != 0) {
        Table& all = table();
        const std::lock_guard lock(all.lock);
        drop(all, [&](const UnderWay& call) { return call.communicator == &communicator; });
    }
}

bool are_complete(const Trial& trial) noexcept {
    const std::lock_guard lock(table().lock);
    return trial.has_all();
}

void forget_trial(const Trial& trial) noexcept {
    Table& all = table();
    const std::lock_guard lock(all.lock);
    drop(all, [&](const UnderWay& call) { return call.trial == &trial; });
}

void CompletionWatch::begin() noexcept {
    Table& all = table();
    const std::lock_guard lock(all.lock);
    try {
        watched_.reserve(std::min(all.calls.size(), static_cast<std::size_t>(count_)));
    } catch (const std::exception&) {
        return; // The trials of these calls end without a winner.
    }
    for (int i = 0; i < count_ && watched_.size() < all.calls.size(); ++i) {
        const auto is_it = [&](const UnderWay& call) {
            return call.request == requests_[i];
        };
        if (std::ranges::any_of(all.calls, is_it)) {
            watched_.push_back({i, requests_[i]});
        }
    }
    begin_ns_ = now_ns();
    begin_thread_ns_ = thread_ns();
}

void CompletionWatch::end() noexcept {
    const auto each = static_cast<std::int64_t>(watched_.size());
    const std::int64_t ns = (now_ns() - begin_ns_) / each;
    const std::int64_t taken_ns = (thread_ns() - begin_thread_ns_) / each;
    Table& all = table();
    const std::lock_guard lock(all.lock);
    for (const auto& [place, request] : watched_) {
        const auto call = std::ranges::find(all.calls, request, &UnderWay::request);
        if (call == all.calls.end()) {
            continue;
        }
        call->span.end_ns += call->measure() == Measure::taken ? taken_ns : ns;
        call->cpu_ns += taken_ns;
        if (requests_[place] == host().request_null) {
            call->end();
            all.calls.erase(call);
        }
    }
    attempts_under_way.store(static_cast<int>(all.calls.size()), std::memory_order_relaxed);
}

} // namespace corymb::mpi

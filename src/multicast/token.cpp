// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/process_state.hpp"
#include "multicast/member.hpp"

#include <string>
#include <utility>

namespace corymb {

using detail::MulticastMember;

namespace {

/// "rank 3 has not polled for 250 ms".
std::string describe(const MulticastLate& late) {
    using State = MulticastLate::State;
    const auto microseconds =
        std::chrono::duration_cast<std::chrono::microseconds>(late.by).count();
    const std::string time = std::to_string(microseconds / 1000) + "." +
                             std::to_string(microseconds % 1000 / 100) + " ms";
    std::string who = "rank " + std::to_string(late.rank);
    if (late.pid != 0) {
        const auto pid = static_cast<std::uint32_t>(late.pid);
        who += " (pid " + std::to_string(pid) +
               (late.state == State::ended ? "" : process_state(pid)) + ")";
    }
    switch (late.state) {
    case State::told: return who + " has not polled for " + time;
    case State::running: return who + " runs it and is not through after " + time;
    case State::ended: return who + " has ended";
    case State::untold: break;
    }
    return who + " has not been told after " + time;
}

Error timeout_of(Rank initiator, const std::vector<MulticastLate>& late) {
    constexpr std::size_t described_max = 8;
    std::string text =
        "the multicast call of rank " + std::to_string(initiator) + " is not complete: ";
    std::vector<int> ranks;
    for (const MulticastLate& one : late) {
        if (ranks.size() < described_max) {
            text += (ranks.empty() ? "" : "; ") + describe(one);
        }
        ranks.push_back(one.rank);
    }
    if (ranks.size() > described_max) {
        text += "; and " + std::to_string(ranks.size() - described_max) + " more";
    }
    text += ". Members must poll, sleep in the group or be quiescent; the call goes on";
    return {Errc::timeout, text, std::move(ranks)};
}

/// Everybody else has run it.
Error ended_of(Rank initiator, const std::vector<MulticastLate>& lost) {
    std::string names;
    std::vector<int> ranks;
    for (const MulticastLate& one : lost) {
        names += (names.empty() ? "" : "; ") + describe(one);
        ranks.push_back(one.rank);
    }
    return {Errc::team_broken,
            names + " without having acknowledged the multicast call of rank " +
                std::to_string(initiator) +
                ". All other members have run it, and the group goes on",
            std::move(ranks)};
}

} // namespace

MulticastToken::~MulticastToken() {
    abandon();
}

MulticastToken& MulticastToken::operator=(MulticastToken&& other) noexcept {
    if (this != &other) {
        abandon();
        member_ = std::move(other.member_);
        slot_ = other.slot_;
        members_ = other.members_;
        begin_ns_ = other.begin_ns_;
        error_ = std::move(other.error_);
    }
    return *this;
}

void MulticastToken::abandon() noexcept {
    if (member_ && !member_->user.is_inherited()) {
        if (member_->shared->core.is_complete(slot_)) {
            static_cast<void>(member_->shared->finish(slot_));
        } else {
            member_->shared->core.give_up(slot_);
        }
    }
    member_.reset();
}

void MulticastToken::finish(const std::vector<Rank>& lost) {
    std::exception_ptr ended;
    if (!lost.empty()) {
        std::vector<MulticastLate> members;
        for (const Rank rank : lost) {
            members.push_back(
                {rank, MulticastLate::State::ended, {}, member_->shared->lost_pid(rank)});
        }
        ended = std::make_exception_ptr(ended_of(member_->rank, members));
    }
    error_ = member_->shared->finish(slot_);
    if (ended) {
        error_ = ended;
    }
}

bool MulticastToken::test() {
    if (member_ == nullptr) {
        return true;
    }
    {
        const detail::InCall own(*member_);
        static_cast<void>(own->poll());
        std::vector<Rank> lost;
        if (!own->has_ended(slot_, lost)) {
            return false;
        }
        finish(lost);
    }
    member_.reset();
    return true;
}

void MulticastToken::wait_for_end(std::chrono::nanoseconds limit) {
    const detail::InCall own(*member_);
    own->require_outside("wait");
    const std::int64_t limit_ns = limit.count() > 0 ? bounded_ns(limit) : own->shared->deadline_ns;
    std::vector<Rank> lost;
    if (!own->wait_for(slot_, limit_ns, lost)) {
        throw timeout_of(own->rank, late());
    }
    finish(lost);
}

void MulticastToken::wait(std::chrono::nanoseconds limit) {
    if (member_) {
        wait_for_end(limit);
        member_.reset();
    }
    if (error_) {
        std::rethrow_exception(error_);
    }
}

std::vector<MulticastLate> MulticastToken::late() const {
    if (member_ == nullptr) {
        return {};
    }
    member_->user.require_own_process();
    return member_->shared->late(slot_, begin_ns_);
}

} // namespace corymb

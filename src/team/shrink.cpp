// SPDX-License-Identifier: Apache-2.0
// A new team of the ranks that are left. They agree under the lock of the memory: first on the
// members, which are final, then on the arena. The lowest living rank does the next step, so that a
// death in between only hands the work on.
#include "base/wait_clock.hpp"
#include "team/member.hpp"

#include <corymb/team.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace corymb {

namespace {

using namespace std::chrono_literals;

class Shrinking {
public:
    Shrinking(detail::TeamShared& shared, Rank rank) : shared_(&shared), rank_(rank) {}

    /// Waits for the agreement.
    void agree() {
        {
            const std::lock_guard lock(*shared_->memory);
            shared_->fabric.state(rank_).shrinking = 1;
        }
        for (auto pause = 100us; !step();) {
            waited_ns_ = clock_.waited_ns();
            if (waited_ns_ >= 2 * shared_->deadline_ns) {
                throw Error(Errc::timeout, "shrink: the ranks that are left did not agree; one of "
                                           "them has stopped meanwhile");
            }
            if (shared_->options.interrupted && shared_->options.interrupted()) {
                throw Error(Errc::interrupted, "shrink was interrupted", {rank_});
            }
            std::this_thread::sleep_for(pause);
            pause = std::min(pause * 2, std::chrono::microseconds(2ms));
        }
    }

    [[nodiscard]] const std::vector<Rank>& members() const noexcept { return members_; }

private:
    /// Looks once and does what this rank has to do. True: there is a team.
    bool step() {
        if (shared_->company) {
            shared_->company->watch.look();
        }
        {
            const std::lock_guard lock(*shared_->memory);
            if (shared_->record.members == 0 && is_time_to_decide()) {
                decide();
            }
            if (shared_->record.members == 0) {
                return false;
            }
            read_members();
            if (shared_->record.successor != 0 || first_living(members_) != rank_) {
                return shared_->record.successor != 0;
            }
        }
        const Offset made = Arena(*shared_->memory).root();
        shared_->tell_processes(made, members_);
        const std::lock_guard lock(*shared_->memory);
        shared_->record.successor = made;
        return true;
    }

    [[nodiscard]] bool is_alive(Rank rank) const {
        auto& state = shared_->fabric.state(rank);
        return !shared_->company || !shared_->company->watch.has_ended(state.pid);
    }

    [[nodiscard]] Rank first_living(const std::vector<Rank>& ranks) const {
        const auto found =
            std::find_if(ranks.begin(), ranks.end(), [&](Rank rank) { return is_alive(rank); });
        return found == ranks.end() ? -1 : *found;
    }

    [[nodiscard]] std::vector<Rank> come() const {
        std::vector<Rank> ranks;
        for (Rank rank = 0; rank < shared_->fabric.size(); ++rank) {
            if (shared_->fabric.state(rank).shrinking != 0 && is_alive(rank)) {
                ranks.push_back(rank);
            }
        }
        return ranks;
    }

    /// Whether this rank has to decide: every rank that can come has come, or it took too long.
    [[nodiscard]] bool is_time_to_decide() const {
        bool all = true;
        for (Rank rank = 0; rank < shared_->fabric.size(); ++rank) {
            const auto& state = shared_->fabric.state(rank);
            all = all && (state.shrinking != 0 || state.gone.load(std::memory_order_relaxed) != 0 ||
                          !is_alive(rank));
        }
        return first_living(come()) == rank_ && (all || waited_ns_ >= shared_->deadline_ns);
    }

    void decide() {
        const std::vector<Rank> ranks = come();
        const auto count = static_cast<std::uint64_t>(ranks.size());
        const std::size_t bytes = ranks.size() * sizeof(Rank);
        const Offset where = shared_->fabric.arena().allocate(sizeof count + bytes);
        std::byte* const to = shared_->memory->at(where);
        std::memcpy(to, &count, sizeof count);
        std::memcpy(to + sizeof count, ranks.data(), bytes);
        shared_->record.members = where;
    }

    void read_members() {
        const std::byte* const from = shared_->memory->at(shared_->record.members);
        std::uint64_t count = 0;
        std::memcpy(&count, from, sizeof count);
        members_.resize(count);
        std::memcpy(members_.data(), from + sizeof count, count * sizeof(Rank));
    }

    detail::TeamShared* shared_;
    Rank rank_;
    WaitClock clock_;
    std::int64_t waited_ns_ = 0;
    std::vector<Rank> members_;
};

} // namespace

Team Team::shrink() {
    const detail::InCall handle(member());
    handle->require_one_node("shrink", "its nodes cannot agree on the ranks that are left; make "
                                       "new local teams and a new team over the nodes");
    detail::TeamShared& shared = *handle->shared;
    Shrinking shrinking(shared, rank());
    shrinking.agree();
    const auto& members = shrinking.members();
    const auto place = std::find(members.begin(), members.end(), rank());
    if (place == members.end()) {
        throw Error(Errc::team_broken,
                    "shrink: rank " + std::to_string(rank()) +
                        " came after the deadline; the others have gone on without it");
    }
    const auto made = shared.successor(members);
    const auto own = static_cast<Rank>(place - members.begin());
    made->take(own);
    return Team(made, own);
}

} // namespace corymb

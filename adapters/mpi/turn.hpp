// SPDX-License-Identifier: Apache-2.0
// One call from beginning to end: which communicator, who does it, what comes of it.
#pragma once

#include "call.hpp"
#include "group.hpp"

#include <cstdint>
#include <exception>
#include <mutex>

namespace corymb::mpi {

class Turn {
public:
    /// The first calls on a communicator decide whether it has a team, whatever their arguments
    /// are: ranks may differ in these.
    Turn(const Call& call, MPI_Comm comm) noexcept : call_(call), group_(group_of(comm)) {
        if (group_ != nullptr && (group_->is_watched || group_->state == Group::State::early))
            [[unlikely]] {
            begin();
        }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() = default;

    [[nodiscard]] bool has_team() const noexcept {
        return group_ != nullptr && group_->state == Group::State::team;
    }
    [[nodiscard]] corymb_team* team() const noexcept { return group_->team; }
    [[nodiscard]] int rank() const noexcept { return group_->rank; }
    [[nodiscard]] int size() const noexcept { return group_->size; }
    [[nodiscard]] bool is_rank(int root) const noexcept { return root >= 0 && root < size(); }

    /// The MPI below does it. Without a team the communicator's own reason is the one.
    int pass_on(Reason reason);
    /// Runs `action`, which returns a corymb_status, or leaves it to the MPI where that is faster.
    /// `bytes` are the same on all ranks, and so is `may_choose`.
    template <class Action>
    int take(std::uint64_t bytes, const Action& action, bool may_choose = true) {
        auto run = [&]() noexcept -> int {
            try {
                return action();
            } catch (const std::exception&) { // No memory for a copy, here only: nobody may wait.
                abandon();
                return CORYMB_OUT_OF_MEMORY;
            }
        };
        const Verdict verdict = group_->choice.of(call_.operation, bytes);
        if (verdict == Verdict::corymb || !may_choose) [[likely]] {
            return finish(static_cast<corymb_status>(run()), bytes);
        }
        return verdict == Verdict::mpi ? pass_on(Reason::slower) : attempt(bytes, Below(run));
    }

private:
    void begin() noexcept;
    void abandon() noexcept;
    int attempt(std::uint64_t bytes, Below run) noexcept;
    int finish(corymb_status status, std::uint64_t bytes) noexcept;
    void note(Reason reason, std::uint64_t bytes) noexcept;

    const Call& call_;
    Group* group_;
    std::unique_lock<std::mutex> use_;
    std::int64_t begin_ns_ = 0;
};

} // namespace corymb::mpi

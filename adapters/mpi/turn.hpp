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
    Turn(const Call& call, MPI_Comm comm) noexcept;
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
    /// Runs `action`, which returns a corymb_status; `bytes` are this rank's.
    template <class Action>
    int take(std::uint64_t bytes, const Action& action) {
        corymb_status status = CORYMB_OUT_OF_MEMORY;
        try {
            status = action();
        } catch (const std::exception&) { // No memory for a copy, here only: nobody may wait.
            abandon();
        }
        return finish(status, bytes);
    }

private:
    void abandon() noexcept;
    int finish(corymb_status status, std::uint64_t bytes) noexcept;
    void note(Reason reason, std::uint64_t bytes) noexcept;

    const Call& call_;
    Group* group_;
    std::unique_lock<std::mutex> use_;
    std::int64_t begin_ns_ = 0;
};

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// An error handler of a program in C++ may throw, through the MPI and through the adapter.
#pragma once

namespace corymb::mpi {

/// Does something at the end of the scope unless `done` has been called.
template <class Action>
class UnlessDone {
public:
    explicit UnlessDone(const Action& action) noexcept : action_(&action) {}
    UnlessDone(const UnlessDone&) = delete;
    UnlessDone& operator=(const UnlessDone&) = delete;
    ~UnlessDone() {
        if (action_ != nullptr) {
            (*action_)();
        }
    }
    void done() noexcept { action_ = nullptr; }

private:
    const Action* action_;
};

} // namespace corymb::mpi

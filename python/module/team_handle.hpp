// SPDX-License-Identifier: Apache-2.0
// A team and its requests as Python holds them. Python drops objects at any moment and on any
// thread, raises on signals, and may use a handle from two threads; corymb::Team permits none of
// that, so it happens here.
#pragma once

#include "operand.hpp"
#include "user_operator.hpp"

#include <corymb/request.hpp>
#include <corymb/team.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace corymb::python {

/// What an operation needs until it is done. Destroyed with the interpreter lock.
struct Keep {
    Operand send;
    Operand recv;
    /// For operations that the library does not do in place: the input, copied from the output
    /// when the operation starts.
    std::vector<std::byte> copy;
    std::optional<UserReduction> reduction; ///< With an operator of the caller's.
    void start() noexcept;
};

/// The exception that a signal handler has raised while this thread waited without the interpreter
/// lock, if any, is raised in place of the operation's error.
void raise_interruption();
/// `TeamOptions::interrupted` of every team of Python: lets signal handlers run.
[[nodiscard]] bool look_for_signals() noexcept;

class Handle {
public:
    explicit Handle(Team team) noexcept : team_(std::move(team)) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    /// Breaks the team when operations are under way: nobody is left who would wait for them.
    ~Handle();

    /// Runs `action(team)` without the interpreter lock. Throws Errc::invalid_argument while
    /// another thread is in such a call.
    template <class Action>
    decltype(auto) call(const Action& action) {
        const Use use(*this);
        try {
            const nb::gil_scoped_release unlocked;
            return action(team_);
        } catch (...) {
            raise_interruption();
            throw;
        }
    }

    /// For what cannot block.
    [[nodiscard]] const Team& team() const noexcept { return team_; }
    /// Gives the team back after all operations are done.
    void free();
    /// The request and what it needs are left alone by Python; the operation goes on.
    void adopt(Request request, std::unique_ptr<Keep> keep) noexcept;

private:
    class Use {
    public:
        explicit Use(Handle& handle);
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use();

    private:
        Handle* handle_;
    };
    struct Orphan {
        Request request;
        std::unique_ptr<Keep> keep;
    };
    /// Drops the orphans that are done. Whoever calls this is the user of the team.
    void look_after_orphans() noexcept;

    Team team_;
    std::atomic<bool> in_use_{false};
    std::atomic<bool> has_orphans_{false};
    std::mutex mutex_; ///< Guards orphans_.
    std::vector<Orphan> orphans_;
};

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// Active messages as Python has them: a rank that one thread at a time uses, and its calls.
#pragma once

#include "buffer.hpp"
#include "collected.hpp"

#include <corymb/active_message.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::python {

/// What ActiveMessages and its calls share. All is touched with the interpreter lock, but `own`
/// while a thread that is in `Use` waits.
class ActiveRank {
public:
    /// Says for its life that this thread uses the rank. Handlers run in the midst of that.
    class Use {
    public:
        /// Throws Errc::invalid_argument while another thread does, and when the rank is closed.
        explicit Use(ActiveRank& of);
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use();

    private:
        ActiveRank& of_;
    };

    explicit ActiveRank(ActiveMessages&& of, double deadline) noexcept
        : own(std::move(of)), deadline_s(deadline) {}

    /// Throws as Use.
    [[nodiscard]] ActiveMessages& open();
    /// Closes the rank unless a handler of it is running, which is refused.
    void close();
    /// The same, whatever is running.
    void let_go() noexcept {
        own.reset();
        handlers.clear();
        offered.clear();
    }
    /// Ends a call, at once or, if another thread uses the rank, after that.
    void drop(ActiveCall&& call);

    std::optional<ActiveMessages> own;
    double deadline_s; ///< Longest wait for room, and of get and the like.
    HeldFunctions handlers;
    std::map<std::uint32_t, Buffer> offered; ///< By region.

private:
    int uses_ = 0; ///< Of `user_`, one in another.
    std::thread::id user_;
    std::vector<ActiveCall> dropped_;
};

class PythonActive {
public:
    explicit PythonActive(std::shared_ptr<ActiveRank> rank) noexcept : rank_(std::move(rank)) {}
    PythonActive(PythonActive&&) noexcept = default;
    PythonActive& operator=(PythonActive&&) = delete;
    ~PythonActive() { let_go(); }

    [[nodiscard]] const std::shared_ptr<ActiveRank>& rank() const noexcept { return rank_; }
    int visit(visitproc visit, void* arg) const { return rank_->handlers.visit(visit, arg); }
    void let_go() noexcept {
        if (rank_) {
            rank_->let_go();
        }
    }

private:
    std::shared_ptr<ActiveRank> rank_;
};

class PythonCallOfRank {
public:
    PythonCallOfRank(ActiveCall&& call, std::shared_ptr<ActiveRank> rank) noexcept
        : call_(std::move(call)), rank_(std::move(rank)) {}
    PythonCallOfRank(PythonCallOfRank&&) noexcept = default;
    PythonCallOfRank& operator=(PythonCallOfRank&&) = delete;
    ~PythonCallOfRank() {
        if (rank_) {
            rank_->drop(std::move(call_));
        }
    }

    [[nodiscard]] bool test();
    [[nodiscard]] nb::bytes wait(const std::optional<double>& seconds);

private:
    ActiveCall call_;
    std::shared_ptr<ActiveRank> rank_;
};

} // namespace corymb::python

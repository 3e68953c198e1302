// SPDX-License-Identifier: Apache-2.0
// Nonblocking calls that show which library is faster (Choice). Their time is the time that the
// program spends in the calls that start and complete them. Time in between, in which it computes
// or waits elsewhere, does not count.
#pragma once

#include "below/small_list.hpp"
#include "communicator/communicator.hpp"
#include "policy/choice.hpp"

#include <atomic>
#include <cstdint>

namespace corymb::mpi {

/// Watched calls whose requests the program has not completed.
inline constinit std::atomic<int> attempts_under_way{0};

/// A call has been started. Its request is the program's. Without memory it counts as one that is
/// never completed.
void watch(Communicator& communicator, Trial& trial, const Trial::Attempt& attempt,
           MPI_Request request, const Trial::Span& start) noexcept;
/// A call on a communicator without a team has been started, and has taken so much of a CPU so far.
/// Its time goes to the communicator's sample when the program has completed it. One at a time is
/// watched.
void watch_early(Communicator& communicator, MPI_Request request, const Trial::Span& start,
                 std::int64_t cpu_ns) noexcept;
/// The communicator's sample.
[[nodiscard]] RequestSample early_sample(const Communicator& communicator) noexcept;
/// The communicator is about to go.
void forget_attempts(const Communicator& communicator) noexcept;
/// Whether the program has completed all calls of the trial that count.
[[nodiscard]] bool are_complete(const Trial& trial) noexcept;
/// Forgets the calls of the trial that are under way.
void forget_trial(const Trial& trial) noexcept;

/// Watches one call of MPI's functions that complete requests, from its beginning to its end.
class CompletionWatch {
public:
    CompletionWatch(int count, const MPI_Request* requests) noexcept
        : requests_(requests),
          count_(attempts_under_way.load(std::memory_order_relaxed) != 0 ? count : 0) {
        if (count_ > 0 && requests_ != nullptr) [[unlikely]] {
            begin();
        }
    }
    CompletionWatch(const CompletionWatch&) = delete;
    CompletionWatch& operator=(const CompletionWatch&) = delete;
    ~CompletionWatch() {
        if (!watched_.empty()) [[unlikely]] {
            end();
        }
    }

private:
    struct Watched {
        int place;
        MPI_Request request;
    };

    void begin() noexcept;
    void end() noexcept;

    const MPI_Request* requests_;
    int count_;
    std::int64_t begin_ns_ = 0;
    std::int64_t begin_thread_ns_ = 0;
    SmallList<Watched, 16> watched_;
};

} // namespace corymb::mpi

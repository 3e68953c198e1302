// SPDX-License-Identifier: Apache-2.0
// Counts the MPI's own messages that a call completes (below/open_work.hpp).
#pragma once

#include "below/open_work.hpp"
#include "requests/requests.hpp"

namespace corymb::mpi {

/// Wraps a function that completes requests: requests that it sets to null, except corymb's, are
/// messages.
class CompletedMessages {
public:
    CompletedMessages(int count, const MPI_Request* requests) noexcept
        : requests_(open_messages.load(std::memory_order_relaxed) > 0 ? requests : nullptr),
          count_(count), before_(requests_ != nullptr ? active() : 0),
          own_before_(requests_held.load(std::memory_order_relaxed)) {}
    CompletedMessages(const CompletedMessages&) = delete;
    CompletedMessages& operator=(const CompletedMessages&) = delete;
    ~CompletedMessages() {
        if (before_ > 0) {
            const int own = own_before_ - requests_held.load(std::memory_order_relaxed);
            if (const int completed = before_ - active() - own; completed > 0) {
                closed(open_messages, completed);
            }
        }
    }

private:
    [[nodiscard]] int active() const noexcept {
        int found = 0;
        for (int i = 0; i < count_; ++i) {
            found += requests_[i] != host().request_null ? 1 : 0;
        }
        return found;
    }

    const MPI_Request* requests_;
    int count_;
    int before_;
    int own_before_;
};

} // namespace corymb::mpi

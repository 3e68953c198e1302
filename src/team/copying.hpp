// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/copy_gate.hpp"

namespace corymb::team {

/// Marks a copy out of a peer's memory, or into it, for as long as the copy lasts. The mark also
/// ends when an operator throws. Otherwise a rank that waits for the copies of a broken team would
/// wait for ever.
template <class Waiter>
class Copying {
public:
    explicit Copying(Waiter& waiter, channel::Copy copy = channel::Copy::ordinary) noexcept
        : waiter_(&waiter), is_allowed_(waiter.begin_copy(copy)) {}
    Copying(const Copying&) = delete;
    Copying& operator=(const Copying&) = delete;
    ~Copying() { waiter_->end_copy(); }
    [[nodiscard]] bool is_allowed() const noexcept { return is_allowed_; }

private:
    Waiter* waiter_;
    bool is_allowed_;
};

} // namespace corymb::team

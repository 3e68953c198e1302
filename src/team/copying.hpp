// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "channel/copy_gate.hpp"

namespace corymb::team {

/// A rank's gate and its team's `broken` flag. Without a gate, as in tests of a team that cannot
/// break, every copy is allowed.
template <class Env>
struct OwnGate {
    channel::CopyGate<Env>* gate = nullptr;
    const typename channel::CopyGate<Env>::Flag* broken = nullptr;

    [[nodiscard]] bool enter(channel::Copy copy) const noexcept {
        return gate == nullptr || gate->enter(*broken, copy);
    }
    void leave() const noexcept {
        if (gate != nullptr) {
            gate->leave();
        }
    }
};

/// Marks a copy out of a peer's memory, or into it, for as long as the copy lasts. The mark also
/// ends when an operator throws. Otherwise a rank that waits for the copies of a broken team would
/// wait for ever.
template <class Env>
class Copying {
public:
    explicit Copying(const OwnGate<Env>& gate,
                     channel::Copy copy = channel::Copy::ordinary) noexcept
        : gate_(&gate), is_allowed_(gate.enter(copy)) {}
    Copying(const Copying&) = delete;
    Copying& operator=(const Copying&) = delete;
    ~Copying() { gate_->leave(); }
    [[nodiscard]] bool is_allowed() const noexcept { return is_allowed_; }

private:
    const OwnGate<Env>* gate_;
    bool is_allowed_;
};

} // namespace corymb::team

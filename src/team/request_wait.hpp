// SPDX-License-Identifier: Apache-2.0
// Contradictions between a blocking call and a request, or between a collective and a message. They
// use different lanes, so no message of one meets the other. A rank that waits for a single request
// shows whom it waits for. A rank that waits in a blocking call looks for those that wait for it in
// a request which it has not begun, and have not begun its call: both wait for ever.
#pragma once

#include "team/team_shared.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace corymb::detail {

/// What a rank that can do nothing else waits for.
struct RequestWait {
    team::LaneId lane = 0;
    Rank peer = -1;
    bool sends = false; ///< The rank waits until the peer receives a message.
    std::uint64_t number = 0;
};

/// What a rank shows to the others: in its state of lane 0, where no blocking call needs the word
/// meanwhile.
class ShownWait {
public:
    /// In long waits only.
    void show(TeamShared& shared, Rank own, const RequestWait& wait) noexcept;
    /// Before the rank does anything else.
    void hide(TeamShared& shared, Rank own) noexcept {
        if (is_shown_) [[unlikely]] {
            is_shown_ = false;
            shared.fabric.state(own).standstill.store(0, std::memory_order_relaxed);
        }
    }

private:
    bool is_shown_ = false;
};

/// Why the blocking call of this rank, which awaits `awaited` and has begun no request that is not
/// over, cannot end. None: it may end.
[[nodiscard]] std::optional<team::Failure> waits_in_request(TeamShared& shared, Rank own,
                                                            Rank awaited);

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/parked_requests.hpp"

#include <corymb/detail/remote_id.hpp>
#include <corymb/error.hpp>
#include <corymb/rank.hpp>
#include <corymb/task_semaphore.hpp>

#include <algorithm>

namespace corymb::detail {

/// Keeps calls of an object back while the object moves.
struct Hold {
    enum class Keeps {
        nothing,
        exclusive, ///< Calls that are exclusive or shared: they come behind the move.
        all,
    };
    Keeps keeps = Keeps::nothing;
    /// Keeps all from the moment on in which no call of the object runs.
    bool is_for_idle = false;
    Rank from = -1; ///< The object has come from there, and may not be called yet; -1: it is going.
    ParkedRequests::Requests requests; ///< In the order in which they came.
    TaskSemaphore moment{0};           ///< The move may begin, or has ended.

    [[nodiscard]] bool has_of(Rank caller) const noexcept {
        return std::any_of(requests.begin(), requests.end(),
                           [caller](const auto& one) { return one.from == caller; });
    }
};

/// A call of an object that is held.
class ObjectHeld final : public Error {
public:
    explicit ObjectHeld(Hold& by) : Error(Errc::invalid_argument, "the object moves"), by_(&by) {}
    [[nodiscard]] Hold& by() const noexcept { return *by_; }

private:
    Hold* by_;
};

/// A call of an object that is not on this rank, or whose caller's earlier calls were sent back.
class ObjectAway final : public Error {
public:
    explicit ObjectAway(const RemoteId& away)
        : Error(Errc::invalid_argument, "the object has moved"), id_(away) {}
    [[nodiscard]] const RemoteId& id() const noexcept { return id_; }

private:
    RemoteId id_;
};

} // namespace corymb::detail

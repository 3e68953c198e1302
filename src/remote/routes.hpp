// SPDX-License-Identifier: Apache-2.0
// Where a rank sends calls of objects that have moved.
//
// Calls of an object go to the rank that has made it, until one comes back with the place where the
// object is. The order of a rank's calls of one object is kept: what it has sent to the old place
// comes back in order, or has run there. The rank asks the old place to say when it has seen all of
// that (`flush`), and keeps newer calls until then. Then it sends the ones that came back, and the
// newer ones behind them. For the same reason a place that has sent a call back sends back all
// later ones of that caller, until it is asked.
//
// The rank that has made an object always knows where the object is, or where it is about to be:
// a move ends when that rank was told. So a call is sent back twice at most, however often its
// object has moved before. A rank that an object has left may forget that.
//
// Checked by tests/unit/remote/migration_test.cpp: storms of calls and moves, which count each call
// and its order.
#pragma once

#include "remote/call_header.hpp"

#include <corymb/detail/remote_call.hpp>
#include <corymb/detail/remote_id.hpp>
#include <corymb/rank.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

namespace corymb::detail {

struct WholeHash {
    std::size_t operator()(const RemoteId& id) const noexcept { return id.hash(); }
};
/// The object that a part belongs to.
[[nodiscard]] inline RemoteId whole_of(RemoteId id) noexcept {
    id.offset = 0;
    return id;
}

/// Where an object is, as somebody knows.
struct Whereabouts {
    Rank rank = -1;          ///< -1: it is gone.
    std::uint32_t moves = 0; ///< How often it had moved then: what knows of more is newer.
};

struct Route {
    struct Message {
        std::vector<std::byte> bytes; ///< With the header.
        PostAwait* waits = nullptr;   ///< Whom to tell that it is on its way.
        [[nodiscard]] CallHeader header() const noexcept;
    };
    /// Calls go there. Invariant: none is under way to another rank.
    Whereabouts to;
    Whereabouts known; ///< The newest that was heard of.
    bool is_flushing = false;
    /// This rank has made the object, and tells others where it is.
    bool is_home = false;
    bool has_returned = false;    ///< A call came back in this flush: the object is not there.
    bool is_leaving = false;      ///< Is forgotten after the flush, if no call needs it.
    std::deque<Message> returned; ///< While it is flushed: calls that came back.
    std::deque<Message> later;    ///< While it is flushed: calls that have not been sent.

    void learn(const Whereabouts& told) noexcept {
        if (told.rank >= 0 && told.moves > known.moves) {
            known = told;
        }
    }
};

class Routes {
public:
    [[nodiscard]] bool is_empty() const noexcept { return routes_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return routes_.size(); }
    [[nodiscard]] Route* find(const RemoteId& of) noexcept {
        const auto found = routes_.find(whole_of(of));
        return found == routes_.end() ? nullptr : &found->second;
    }
    /// Makes one to the rank that has made the object, if there is none.
    [[nodiscard]] Route& get(const RemoteId& of) {
        const Whereabouts home{of.rank, 0};
        Route made;
        made.to = made.known = home;
        return routes_.try_emplace(whole_of(of), std::move(made)).first->second;
    }
    void erase(const RemoteId& of) noexcept { routes_.erase(whole_of(of)); }
    /// `see(object, route)` for each.
    void for_each(const auto& see) {
        for (auto& [id, route] : routes_) {
            see(id, route);
        }
    }

    /// Calls that are kept: nobody waits for that one any more. Whether there was one.
    bool drop(std::uint32_t call) noexcept;
    bool stop(const PostAwait& waits) noexcept;

private:
    bool drop_if(const auto& is_meant) noexcept;
    std::unordered_map<RemoteId, Route, WholeHash> routes_;
};

} // namespace corymb::detail

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
    bool has_returned = false;     ///< A call came back in this flush: the object is not there.
    bool is_leaving = false;       ///< Is forgotten after the flush, if no call needs it.
    std::vector<Message> returned; ///< While it is flushed: calls that came back.
    std::vector<Message> later;    ///< While it is flushed: calls that have not been sent.
    RemoteId object;
    Route* next_flushing = nullptr;

    void learn(const Whereabouts& told) noexcept {
        if (told.rank >= 0 && told.moves > known.moves) {
            known = told;
        }
    }
};

class Routes {
public:
    explicit Routes(Rank own) noexcept : rank_(own) {}

    [[nodiscard]] bool is_empty() const noexcept { return own_.empty() && others_.empty(); }
    [[nodiscard]] Route* find(const RemoteId& of) noexcept {
        Map& routes = map_of(of);
        const auto found = routes.find(whole_of(of));
        return found == routes.end() ? nullptr : &found->second;
    }
    /// Makes one to the rank that has made the object, if there is none. Never throws otherwise.
    [[nodiscard]] Route& get(const RemoteId& of);
    /// Invariant: it is not flushed.
    void erase(const RemoteId& of) noexcept { map_of(of).erase(whole_of(of)); }

    void begin_flush(Route& route) noexcept;
    void end_flush(Route& route) noexcept;
    /// One that is flushed, whose calls went to that rank; null: there is none.
    [[nodiscard]] Route* flushed_to(Rank to) const noexcept;

    /// How many are to objects that other ranks have made. There is one at most to each other.
    [[nodiscard]] std::size_t to_others() const noexcept { return others_.size(); }
    /// One of those, another one each time, which is not flushed and not to `but`. Null: none.
    /// Takes constant time on average while few are flushed.
    [[nodiscard]] Route* next_to_forget(const RemoteId& but) noexcept;

    /// Calls that are kept: nobody waits for that one any more. Whether there was one. Takes time
    /// in proportion to what is flushed.
    bool drop(std::uint32_t call) noexcept;
    bool stop(const PostAwait& waits) noexcept;

private:
    using Map = std::unordered_map<RemoteId, Route, WholeHash>;
    [[nodiscard]] Map& map_of(const RemoteId& id) noexcept {
        return id.rank == rank_ ? own_ : others_;
    }
    bool drop_if(const auto& is_meant) noexcept;

    Rank rank_;
    Map own_;    ///< To objects that this rank has made.
    Map others_; ///< To objects that other ranks have made.
    Route* flushing_ = nullptr;
    std::size_t hand_ = 0; ///< The bucket of `others_` behind that of the last one to forget.
};

} // namespace corymb::detail

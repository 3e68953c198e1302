// SPDX-License-Identifier: Apache-2.0
// Team's operations on bytes, for bindings of other languages: they know element types and
// operators at run time only. Everybody else has the typed functions of Team.
#pragma once

#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace corymb::detail {

/// Arguments are checked as by Team; errors are those of Team.
struct Untyped {
    static void run(Team& team, const Wish& wish) { team.run(wish); }
    /// A nonblocking operation. `keep` lives as long as it: the state of an operator.
    [[nodiscard]] static Request start(Team& team, const Wish& wish,
                                       std::shared_ptr<const void> keep = nullptr) {
        return team.start(Team::Mode::nonblocking, wish, std::move(keep));
    }
    /// A persistent operation, to be started.
    [[nodiscard]] static Request make(Team& team, const Wish& wish,
                                      std::shared_ptr<const void> keep = nullptr) {
        return team.start(Team::Mode::persistent, wish, std::move(keep));
    }
    /// Messages; `contents` is their kind (detail/contents.hpp), 0 for none.
    struct Message {
        void* data; ///< A send only reads it.
        std::size_t bytes;
        std::uint32_t contents;
    };
    [[nodiscard]] CORYMB_EXPORT static Request send(Team& team, bool is_persistent,
                                                    const Message& message, Rank to);
    [[nodiscard]] CORYMB_EXPORT static Request receive(Team& team, bool is_persistent,
                                                       const Message& message, Rank from);
    /// The request does something around its operation.
    [[nodiscard]] static Request keeping(Request request, std::shared_ptr<Staging> staging) {
        return Team::keeping(std::move(request), std::move(staging));
    }
    /// The member behind a team; for code that sees the private headers of src/team.
    [[nodiscard]] static Member& member(const Team& team) { return team.member(); }

private:
    static Team::Mode mode(bool is_persistent) noexcept {
        return is_persistent ? Team::Mode::persistent : Team::Mode::nonblocking;
    }
};

} // namespace corymb::detail

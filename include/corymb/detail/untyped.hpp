// SPDX-License-Identifier: Apache-2.0
// What bindings of other languages and the typed functions of Team need beside its public ones.
#pragma once

#include <corymb/detail/staging.hpp>
#include <corymb/operation.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace corymb::detail {

/// An operation with what it needs beside its caller's buffers.
struct OwnedOperation {
    explicit OwnedOperation(const CollectiveOperation& of,
                            std::shared_ptr<const void> kept = nullptr,
                            std::shared_ptr<Staging> around = nullptr)
        : operation(of), keep(std::move(kept)), staging(std::move(around)) {}

    CollectiveOperation operation;
    /// Lives as long as the operation: the state of an operator. Or null.
    std::shared_ptr<const void> keep;
    /// Work before and after the operation, with memory of its own; or null. If its beginning
    /// throws, the team is abandoned: the others cannot get any more what this rank owes them.
    std::shared_ptr<Staging> staging;
};

/// Arguments are checked as by Team; errors are those of Team.
struct Untyped {
    [[nodiscard]] static Request start(Team& team, OwnedOperation owned) {
        return team.start(std::move(owned));
    }
    [[nodiscard]] static Request prepare(Team& team, OwnedOperation owned) {
        return team.prepare(std::move(owned));
    }

    struct Message {
        void* data; ///< A send only reads it.
        std::size_t bytes;
        std::uint32_t contents = 0; ///< Kind of its contents (detail/contents.hpp); 0: none.
        std::shared_ptr<Staging> staging{}; ///< As in OwnedOperation.
    };
    [[nodiscard]] static Request send(Team& team, bool is_persistent, const Message& message,
                                      Rank to) {
        return begin(team, false, is_persistent, message, to);
    }
    [[nodiscard]] static Request receive(Team& team, bool is_persistent, const Message& message,
                                         Rank from) {
        return begin(team, true, is_persistent, message, from);
    }
    /// The member behind a team; for code that sees the private headers of src/team.
    [[nodiscard]] static Member& member(const Team& team) { return team.member(); }

private:
    CORYMB_EXPORT static Request begin(Team& team, bool is_receive, bool is_persistent,
                                       const Message& message, Rank peer);
};

} // namespace corymb::detail

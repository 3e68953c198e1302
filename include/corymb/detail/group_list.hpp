// SPDX-License-Identifier: Apache-2.0
// What ranks know of the members of groups of objects.
//
// The rank that has made a group is its home. It has the list of members, and each call begins
// there with the list as it is then. The list is cut into one part a rank: the rank's own members,
// and the branches of a binary tree over the other ranks. A rank tells a branch its part with the
// first call of this list. Later calls carry the number of the list alone.
#pragma once

#include <corymb/detail/remote_id.hpp>
#include <corymb/export.hpp>
#include <corymb/rank.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace corymb::detail {

/// Names a group.
struct GroupId {
    Rank home = -1; ///< Who has the list; -1: there is no group.
    std::uint32_t number = 0;
    std::uint32_t mark = 0; ///< The one of the ranks.
    friend auto operator<=>(const GroupId&, const GroupId&) = default;
};
/// Names the members that a group has had from one change to the next.
struct GroupListId {
    GroupId group;
    std::uint32_t version = 0;
    friend auto operator<=>(const GroupListId&, const GroupListId&) = default;
};
struct GroupMember {
    RemoteId id;
    Rank on = -1;            ///< Where calls go: where it is, unless it has moved by itself.
    std::uint32_t index = 0; ///< In the order of the members.
};

/// What one rank has to do in calls with one list.
struct GroupPart {
    struct Branch {
        Rank rank;
        /// Those of that rank and of the ranks behind it, until it has answered a call with them.
        std::vector<GroupMember> members;
        bool was_told = false; ///< Such a call was begun.
    };
    /// `members` are ordered by node and rank, with those of `own` in front. `node_of_rank` is
    /// empty on one node. The tree is one over the nodes, and within each node one over its ranks:
    /// a node gets one message.
    GroupPart(const GroupListId& of, Rank own, std::span<const GroupMember> members,
              std::span<const int> node_of_rank);

    GroupListId list;
    std::vector<GroupMember> members; ///< On this rank.
    std::vector<Branch> branches;     ///< The largest first.
};
using GroupPartOwner = std::shared_ptr<GroupPart>;

/// Keeps the members on this rank. Throws Errc::invalid_argument for a pointer to nothing, or of
/// other ranks.
[[nodiscard]] CORYMB_EXPORT GroupId found_group(std::vector<GroupMember> members);
/// Throws Errc::invalid_argument for the group of no ranks or of others.
CORYMB_EXPORT void require_group(const GroupId& group);

// At the home of a group. Throw Errc::invalid_argument for one that was dissolved.
[[nodiscard]] CORYMB_EXPORT std::vector<RemoteId> list_members(const GroupId& group);
[[nodiscard]] CORYMB_EXPORT GroupPartOwner part_at_home(const GroupId& group);
/// Parts that no call uses any more: the branches are to be told.
using UnusedParts = std::vector<GroupPartOwner>;
struct GroupChange {
    enum Kind : std::uint8_t {
        add,            ///< Behind the others.
        remove,         ///< In all its places.
        remove_of_rank, ///< All of `member.rank`.
        dissolve,
    };
    Kind kind;
    RemoteId member;
};
/// `changed`: how many members have come or gone.
CORYMB_EXPORT UnusedParts change_group(const GroupId& group, const GroupChange& change,
                                       std::size_t& changed);
/// These members have moved, if they are still there.
CORYMB_EXPORT UnusedParts place_members(const GroupId& group, std::span<const GroupMember> moved);

// At a branch.
/// `members`: empty if this rank was told them before.
[[nodiscard]] CORYMB_EXPORT GroupPartOwner part_here(const GroupListId& list,
                                                     std::span<const GroupMember> members);
/// Forgets the part; null: this rank has none.
[[nodiscard]] CORYMB_EXPORT GroupPartOwner take_part(const GroupListId& list) noexcept;

[[noreturn]] CORYMB_EXPORT void refuse_no_members();
[[noreturn]] CORYMB_EXPORT void refuse_places(std::size_t given, std::size_t members);

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/detail/group_list.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace corymb::detail {

/// What one rank knows of the members of groups of objects.
struct GroupLists {
    struct Own {
        /// The members have changed.
        void retire_part();
        [[nodiscard]] UnusedParts take_unused();

        std::vector<GroupMember> members; ///< In their order.
        std::uint32_t version = 0;
        GroupPartOwner part; ///< Null: no call has needed it since the last change.
        UnusedParts stale;   ///< Parts of older versions, which calls may use.
    };
    std::map<std::uint32_t, Own> own; ///< By number: the groups that this rank has made.
    std::uint32_t next = 0;
    std::map<GroupListId, GroupPartOwner> told; ///< Parts of the groups of others.
};

} // namespace corymb::detail

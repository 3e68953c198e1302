// SPDX-License-Identifier: Apache-2.0
// What a rank that calls others is made of.
#pragma once

#include "remote/transport.hpp"

#include <corymb/mailbox.hpp>
#include <corymb/remote.hpp>

#include <cstdint>

namespace corymb::detail {

/// Throws Errc::invalid_argument for messages that are too short for calls.
[[nodiscard]] MailboxOptions mail_options(const RemoteOptions& options);

struct RemoteRankAccess {
    [[nodiscard]] static RemoteRank make(Transport transport, const RemoteOptions& options,
                                         std::uint32_t group_mark, bool is_shared);
};

} // namespace corymb::detail

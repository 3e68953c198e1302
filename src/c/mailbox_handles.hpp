// SPDX-License-Identifier: Apache-2.0
// The handle of a mailbox, which active messages take over.
#pragma once

#include "c/of_rank.hpp"

#include <corymb.h>
#include <corymb/mailbox.hpp>

#include <cstdint>

struct corymb_mailbox : corymb::c::Holder<corymb_mailbox, corymb::c::OfRank<corymb::Mailbox>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620007;
    static constexpr const char* name = "the mailbox";
};

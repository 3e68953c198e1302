// SPDX-License-Identifier: Apache-2.0
// Prints what the tables hold, for complete.py.
#include "handles/table.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

namespace corymb::handles {

namespace {

template <class Handle>
void print(const Calls<Handle>& calls) {
    std::set<std::string> names;
    for (const auto& call : calls) {
        EXPECT_TRUE(names.insert(call.name).second) << call.name << " is there twice";
        std::printf("in the table: %s\n", call.name);
    }
}

TEST(HandleTable, HasNames) {
    print(team_calls());
    print(thread_team_calls());
    print(process_team_calls());
    print(request_calls());
    print(mailbox_calls());
    print(mailbox_group_calls());
    print(publisher_calls());
    print(reader_calls());
    print(ring_calls());
    print(multicast_calls());
    print(token_calls());
    print(multicast_group_calls());
    print(scheduler_calls());
    print(remote_rank_calls());
    print(named_call_calls());
    print(named_reply_calls());
    print(remote_group_calls());
}

} // namespace

} // namespace corymb::handles

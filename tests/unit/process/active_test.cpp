// SPDX-License-Identifier: Apache-2.0
// Active messages among processes, whose functions and memory lie at other addresses.
#include "children.hpp"
#include "limits.hpp"

#include <corymb/active_message.hpp>

#include <array>

namespace corymb {
namespace {

using namespace process_test;

constexpr std::uint16_t ask = 1;
const auto long_enough = test_limit();

TEST(ActiveProcessTest, AnOwnerAnswersUntilItIsKilled) {
    MailboxGroup group(2, {.between_processes = true});
    const Descriptor descriptor(group);
    Children children;
    const std::size_t owner = children.start([&] {
        ActiveMessages own(MailboxGroup::open(descriptor.number()).join(1));
        std::array<int, 3> numbers{5, 6, 7};
        const GlobalPointer<int> first = own.offer(std::span(numbers));
        own.on_value<int>(ask, [first](Rank, int) { return first; });
        for (;;) {
            static_cast<void>(own.serve(long_enough));
        }
    });
    ActiveMessages own(group.join(0), long_enough);
    const auto first = own.call_value(1, ask, 0).value<GlobalPointer<int>>();
    EXPECT_EQ(own.get(first + 2), 7);
    own.put(first, 1);
    EXPECT_EQ(own.compare_exchange(first, 1, 2), 1);
    EXPECT_EQ(own.get(first), 2);
    children.signal(owner, SIGSTOP); // It takes no more of them, then it ends.
    auto call = own.call_value(1, ask, 0);
    children.signal(owner, SIGKILL);
    try {
        call.wait();
        ADD_FAILURE() << "nobody is there";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::team_broken) << error.what();
        EXPECT_EQ(error.ranks(), std::vector<int>{1});
    }
    EXPECT_THROW(own.put(first, 1), Error) << "that is known now";
}

} // namespace
} // namespace corymb

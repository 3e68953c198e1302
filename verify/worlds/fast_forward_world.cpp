// SPDX-License-Identifier: Apache-2.0
// bench/messages/fast_forward.hpp: messages come in order and whole, and a slot is not filled again
// while its message is read.
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "messages/fast_forward.hpp"

namespace {

using namespace corymb::verify;

template <std::size_t Words, std::size_t Slots, std::uint64_t Messages>
struct Stream {
    static constexpr int threads = 2;
    corymb::bench::FastForward<ExplorerEnv, Words, Slots> queue;

    void run(int thread) {
        AwaitWaiter waiter;
        for (std::uint64_t i = 1; i <= Messages; ++i) {
            typename decltype(queue)::Message message;
            if (thread == 0) {
                message.fill(i);
                require(queue.push(waiter, message), "there is room");
                continue;
            }
            require(queue.pop(waiter, message), "the message comes");
            for (const std::uint64_t word : message) {
                require(word == i, "messages come in order and whole");
            }
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Stream<1, 2, 5>>("FastForward: 5 messages of a word through 2 slots"),
            holds<Stream<3, 1, 4>>("FastForward: 4 messages of 3 words through 1 slot"),
            holds<Stream<3, 2, 6>>("FastForward: 6 messages of 3 words through 2 slots"),
            caught<Stream<3, 2, 4>>("FastForward: release is relaxed", Fault::release_is_relaxed),
            caught<Stream<3, 2, 4>>("FastForward: acquire is relaxed", Fault::acquire_is_relaxed),
        });
}

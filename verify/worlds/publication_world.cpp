// SPDX-License-Identifier: Apache-2.0
// src/channel/publication_ring.hpp: every reader gets every publication whole, and a slot is not
// filled again while a reader uses its payload.
#include "channel/publication_ring.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "worlds/payload.hpp"

namespace {

using namespace corymb::verify;

enum class Bug : std::uint8_t { none, releases_before_use, forgets_a_reader };

template <int Readers, std::size_t Slots, std::uint64_t Messages, Bug bug = Bug::none>
struct Publications {
    static constexpr int threads = 1 + Readers;
    corymb::channel::OwnedPublicationRing<ExplorerEnv, 8, Slots> ring{
        Readers - (bug == Bug::forgets_a_reader ? 1 : 0)};
    // Takes what the forgotten reader releases.
    corymb::channel::OwnedPublicationRing<ExplorerEnv, 8, Slots> elsewhere{Readers};

    Publications() { Explorer::current().name(&ring, sizeof ring, "ring"); }

    void run(int thread) {
        AwaitWaiter waiter;
        std::uint64_t count = 0;
        for (std::uint64_t i = 0; i < Messages; ++i) {
            if (thread == 0) {
                const std::uint64_t value = 100 + i;
                require(ring.publish(waiter, &value, sizeof value, count), "there is room");
            } else {
                receive(waiter, static_cast<std::size_t>(thread - 1), 100 + i, count);
            }
        }
        require(count == Messages, "all were counted");
    }

    void receive(AwaitWaiter& waiter, std::size_t reader, std::uint64_t expected,
                 std::uint64_t& count) {
        const std::byte* payload = ring.read(waiter, sizeof(std::uint64_t), count);
        if (bug == Bug::releases_before_use) {
            ring.release(reader, count);
            static_cast<void>(use(payload));
            return;
        }
        require(use(payload) == expected, "publications come in order");
        const bool forgotten = bug == Bug::forgets_a_reader && reader + 1 == Readers;
        (forgotten ? elsewhere : ring).release(reader, count);
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Publications<1, 2, 6>>("publication: 1 reader, 2 slots, 6 messages"),
            holds<Publications<2, 2, 4>>("publication: 2 readers, 2 slots, 4 messages"),
            holds_large<Publications<2, 4, 7>>("publication: 2 readers, 4 slots, 7 messages"),
            caught<Publications<2, 2, 3>>("publication: release is relaxed",
                                          Fault::release_is_relaxed),
            caught<Publications<2, 2, 3>>("publication: acquire is relaxed",
                                          Fault::acquire_is_relaxed),
            caught<Publications<2, 2, 4, Bug::releases_before_use>>(
                "publication: a reader releases before it uses the payload"),
            caught<Publications<2, 2, 4, Bug::forgets_a_reader>>(
                "publication: the publisher forgets a reader"),
        });
}

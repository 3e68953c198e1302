// SPDX-License-Identifier: Apache-2.0
// An object of 64 bytes goes from one of two ranks to the other and comes back.
#include "../threads/case.hpp"
#include "row.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>

#include <array>
#include <thread>
#include <vector>

namespace corymb::bench {
namespace {

constexpr int rounds = 11;
constexpr int moves_of_round = 2'000;

struct Moving {
    std::array<char, 64> bytes{};
    [[nodiscard]] char first() const { return bytes[0]; }
};
struct Times {
    std::vector<double> move, sent_back, moved;
};

Task<> one_round(Times& times, Remote<Moving> moving) {
    double moves = 0;
    double sent_back = 0;
    double moved = 0;
    for (int i = 0; i < moves_of_round; ++i) {
        auto begin = Clock::now();
        co_await moving.migrate(0);
        moves += ns_since(begin);
        begin = Clock::now();
        co_await moving.call<&Moving::first>(); // Asks the other rank, which had it.
        sent_back += ns_since(begin);
        begin = Clock::now();
        co_await moving.migrate(1);
        moves += ns_since(begin);
        begin = Clock::now();
        co_await moving.call<&Moving::first>();
        moved += ns_since(begin);
    }
    times.move.push_back(moves / moves_of_round / 2);
    times.sent_back.push_back(sent_back / moves_of_round);
    times.moved.push_back(moved / moves_of_round);
}

Task<> lead(Times& times) {
    const Remote<Moving> moving = co_await create<Moving>(1);
    for (int round = 0; round < rounds; ++round) {
        co_await one_round(times, moving);
    }
    co_await moving.destroy();
}

} // namespace

std::vector<Row> moves() {
    RemoteGroup group(2, {.message_bytes = 120});
    Times times;
    const std::vector<int> cpus = placement(2);
    std::jthread other([&group, &cpus] {
        bind_this_thread(cpus[1]);
        group.join(1).run([]() -> Task<> {
            co_return;
        }());
    });
    std::jthread caller([&group, &times, &cpus] {
        bind_this_thread(cpus[0]);
        group.join(0).run(lead(times));
    });
    caller.join();
    return {{"move", 2, quartiles(times.move)},
            {"sent_back", 2, quartiles(times.sent_back)},
            {"moved", 2, quartiles(times.moved)}};
}

} // namespace corymb::bench

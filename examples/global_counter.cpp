// SPDX-License-Identifier: Apache-2.0
// Workers count words in a table that one rank owns, by calls of its elements; nobody locks
// anything. The same program would work among processes.
#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <span>
#include <thread>
#include <vector>

namespace {

constexpr int workers = 3, words = 1000;
using Counts = corymb::Remote<std::uint64_t>;

corymb::Task<> work(Counts table) {
    for (int word = 0; word < words; ++word) {
        const int length = 1 + word * 7 % 15;
        co_await (table + length).tell([](std::uint64_t& count) { ++count; });
    }
}

/// Offers the table, has all workers count, and waits for them.
corymb::Task<> own(std::span<std::uint64_t> table) {
    const Counts first = corymb::offer(table);
    co_await corymb::finish([first]() -> corymb::Task<> {
        for (corymb::Rank worker = 1; worker <= workers; ++worker) {
            co_await corymb::tell<&work>(worker, first);
        }
    });
    co_await first.destroy();
}

} // namespace

int main() {
    corymb::RemoteGroup group(workers + 1);
    std::array<std::uint64_t, 16> table{};
    std::vector<std::jthread> threads;
    for (corymb::Rank rank = 0; rank <= workers; ++rank) {
        threads.emplace_back([&group, &table, rank] {
            corymb::RemoteRank here = group.join(rank);
            here.run([](std::span<std::uint64_t> counts) -> corymb::Task<> {
                if (corymb::here() == 0) {
                    co_await own(counts);
                }
            }(table));
        });
    }
    threads.clear();
    const std::uint64_t all = std::accumulate(table.begin(), table.end(), std::uint64_t{0});
    std::printf("%llu words counted\n", static_cast<unsigned long long>(all));
    return all == std::uint64_t{workers} * words ? 0 : 1;
}

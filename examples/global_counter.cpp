// SPDX-License-Identifier: Apache-2.0
// Workers count words in a table that one rank owns, by calls to its elements; nobody locks
// anything. The same program would work among processes.
#include <corymb/active_message.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using Table = std::array<std::uint64_t, 16>;
constexpr std::uint16_t ask_for_table = 1, add = 2, done = 3;
constexpr int workers = 3, words = 1000;

void work(corymb::Mailbox box) {
    corymb::ActiveMessages own(std::move(box));
    const auto table =
        own.call_value(0, ask_for_table, 0).value<corymb::GlobalPointer<std::uint64_t>>();
    for (int word = 0; word < words; ++word) {
        const int length = 1 + word * 7 % 15;
        own.call_at(table + length, add, 1).wait();
    }
    own.call_value(0, done, 0).wait();
}

} // namespace

int main() {
    corymb::MailboxGroup group(workers + 1);
    corymb::ActiveMessages owner(group.join(0));
    Table table{};
    const auto first = owner.offer(std::span(table));
    int left = workers;
    owner.on_value<int>(ask_for_table, [&](corymb::Rank, int) { return first; });
    owner.on_value<int>(done, [&](corymb::Rank, int) { --left; });
    owner.on_object<std::uint64_t, int>(add, [](std::uint64_t& count, corymb::Rank, int by) {
        count += static_cast<std::uint64_t>(by);
    });
    std::vector<std::jthread> threads;
    for (int rank = 1; rank <= workers; ++rank) {
        threads.emplace_back([&group, rank] { work(group.join(rank)); });
    }
    while (left > 0) {
        static_cast<void>(owner.serve(std::chrono::seconds(1)));
    }
    const std::uint64_t all = std::accumulate(table.begin(), table.end(), std::uint64_t{0});
    std::printf("%llu words counted\n", static_cast<unsigned long long>(all));
    return all == std::uint64_t{workers} * words ? 0 : 1;
}

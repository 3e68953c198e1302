// SPDX-License-Identifier: Apache-2.0
// Rank 0 hands out numbers, whoever has room takes one, and answers come whenever they are ready.
#include <corymb/mailbox.hpp>
#include <corymb/usable_cpus.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t tasks = 1000, stop = ~std::uint64_t{0};

void work(corymb::Mailbox box) {
    for (bool stopped = false; !stopped;) {
        static_cast<void>(box.wait(1s));
        box.probe_values<std::uint64_t>([&](corymb::Rank from, std::uint64_t task) {
            stopped = task == stop;
            while (!stopped && !box.send_value(from, task * task)) {
                std::this_thread::yield(); // Rank 0 probes while it waits: there will be room.
            }
        });
    }
}

} // namespace

int main() {
    const int workers = corymb::usable_cpus().count();
    corymb::MailboxGroup group(workers + 1, {.capacity = 4});
    corymb::Mailbox box = group.join(0);
    std::vector<std::jthread> threads;
    for (int rank = 1; rank <= workers; ++rank) {
        threads.emplace_back([&group, rank] { work(group.join(rank)); });
    }
    std::uint64_t sent = 0, answers = 0, sum = 0;
    while (answers < tasks) {
        for (int rank = 1; rank <= workers && sent < tasks; ++rank) {
            if (box.send_value(rank, sent)) {
                ++sent;
            }
        }
        static_cast<void>(box.wait(1ms));
        answers += box.probe_values<std::uint64_t>(
            [&](corymb::Rank, std::uint64_t answer) { sum += answer; });
    }
    for (int rank = 1; rank <= workers; ++rank) {
        while (!box.send_value(rank, stop)) {
            std::this_thread::yield();
        }
    }
    std::printf("%d workers: the sum of %llu squares is %llu\n", workers,
                static_cast<unsigned long long>(tasks), static_cast<unsigned long long>(sum));
}

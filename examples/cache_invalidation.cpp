// SPDX-License-Identifier: Apache-2.0
// Workers cache a table that one thread replaces. Before it frees the old one it tells everybody
// who may hold it, and waits until all have let go; idle workers are not woken for that.
#include <corymb/multicast.hpp>

#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Table {
    int version;
};

constexpr int workers = 3;
std::atomic<const Table*> current{nullptr};
std::atomic<bool> stop{false};

void work(corymb::MulticastGroup& group, corymb::Rank rank, std::atomic<int>& ready) {
    thread_local const Table* cached = nullptr; // Saves the look at `current`.
    corymb::Multicast me = group.join(rank, [](auto /*nothing*/) { cached = nullptr; });
    ready.fetch_add(1);
    long sum = 0;
    while (!stop.load()) {
        if (cached == nullptr) {
            cached = current.load();
        }
        sum += cached->version;
        me.poll();       // A safe point: nothing here uses the table.
        if (rank == 0) { // This one has nothing to do for a while: nobody waits for it.
            cached = nullptr;
            const corymb::Multicast::Quiescent idle(me);
            std::this_thread::yield();
        }
    }
    std::printf("worker %d has read versions that sum up to %ld\n", rank, sum);
}

} // namespace

int main() {
    corymb::MulticastGroup group(workers + 1);
    corymb::Multicast me = group.initiator(workers);
    auto table = std::make_unique<const Table>(Table{1});
    current = table.get();

    std::atomic<int> ready{0};
    std::vector<std::jthread> threads;
    for (corymb::Rank rank = 0; rank < workers; ++rank) {
        threads.emplace_back([&, rank] { work(group, rank, ready); });
    }
    while (ready.load() < workers) {
        std::this_thread::yield();
    }
    for (int version = 2; version <= 5; ++version) {
        auto next = std::make_unique<const Table>(Table{version});
        current = next.get();
        auto token = me.send(version);
        token.wait(std::chrono::seconds(60)); // Else Errc::timeout, naming who does not poll.
        table = std::move(next);              // Nobody has the old one any more.
        std::printf("version %d: %d members have let go of the old one\n", version,
                    token.members());
    }
    stop = true;
}

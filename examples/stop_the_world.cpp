// SPDX-License-Identifier: Apache-2.0
// A toy allocator that moves objects: to compact its heap it stops all workers at safe points, and
// says who was late. A worker that waits for something else is quiescent: nobody waits for it.
#include <corymb/multicast.hpp>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace {

using std::chrono::milliseconds;

constexpr int workers = 3;
std::vector<std::unique_ptr<int>> heap; // Moved only while the world stands.
std::atomic<bool> moving{false}, stop{false};

/// What a worker runs in its `poll`: it stands here until the heap has been moved.
void stand_still() {
    moving.wait(true);
}

void work(corymb::MulticastGroup& group, corymb::Rank rank, std::barrier<>& ready) {
    corymb::Multicast me = group.join(rank);
    ready.arrive_and_wait();
    long sum = 0;
    while (!stop) {
        sum += *heap[static_cast<std::size_t>(rank)]; // Between safe points addresses hold.
        if (rank == 1) {
            std::this_thread::sleep_for(milliseconds(30)); // Forgets to poll for long.
        } else if (rank == 2) {
            {
                const corymb::Multicast::Quiescent away(me); // Touches no heap in here.
                std::this_thread::sleep_for(milliseconds(5));
            }
            while (moving) { // Back during a call, it may not be told; it sees what came before.
                me.sleep(milliseconds(1));
            }
        }
        me.poll();
    }
    std::printf("worker %d has added up %ld\n", rank, sum);
}

/// Members acknowledge when they go on; so those that stand are counted.
void compact(corymb::Multicast& collector) {
    std::atomic<int> standing{0};
    moving = true;
    auto token = collector.call([&standing] {
        ++standing;
        stand_still();
    });
    for (int waited = 0; standing < token.members(); ++waited) {
        if (waited == 5) { // Milliseconds.
            for (const corymb::MulticastLate& late : token.late()) {
                if (late.state != corymb::MulticastLate::State::running) {
                    const std::chrono::duration<double, std::milli> by = late.by;
                    std::printf("worker %d is not at a safe point after %.1f ms\n", late.rank,
                                by.count());
                }
            }
        }
        std::this_thread::sleep_for(milliseconds(1));
    }
    for (auto& object : heap) {
        object = std::make_unique<int>(*object);
    }
    moving = false;
    moving.notify_all();
    token.wait(std::chrono::seconds(60)); // `standing` is in use until then.
    std::printf("moved the heap while %d members stood still\n", token.members());
}

} // namespace

int main() {
    for (int i = 0; i < workers; ++i) {
        heap.push_back(std::make_unique<int>(i));
    }
    corymb::MulticastGroup group(workers + 1);
    std::barrier<> ready(workers + 1);
    std::vector<std::jthread> threads;
    for (corymb::Rank rank = 0; rank < workers; ++rank) {
        threads.emplace_back([&, rank] { work(group, rank, ready); });
    }
    ready.arrive_and_wait();
    corymb::Multicast collector = group.initiator(workers);
    for (int i = 0; i < 3; ++i) {
        compact(collector);
    }
    stop = true;
}

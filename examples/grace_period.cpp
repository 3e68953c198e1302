// SPDX-License-Identifier: Apache-2.0
// Readers follow a pointer without any lock or counter; the writer frees what it has replaced after
// a grace period: an empty call, which each reader acknowledges between two reads, or from which it
// has stood aside.
#include <corymb/multicast.hpp>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int readers = 3, updates = 2'000;

struct Route {
    std::array<int, 4> hops;
};

std::atomic<const Route*> route{nullptr};
std::atomic<bool> stop{false};

/// Read-copy-update (McKenney and Slingwine, 1998) with members as readers.
class Domain {
public:
    explicit Domain(corymb::Multicast& writer) : writer_(&writer) {}

    /// Who reads from now on finds `next`; what was there is freed when nobody can hold it.
    void replace(const Route* next) {
        retired_.push_back(route.exchange(next));
        if (retired_.size() == 100) { // One grace period for many.
            synchronize();
        }
    }
    void synchronize() {
        writer_->call([] {}).wait();
        for (const Route* old : retired_) {
            delete old;
        }
        freed_ += retired_.size();
        retired_.clear();
        ++periods_;
    }
    void report() const { std::printf("freed %zu routes in %d grace periods\n", freed_, periods_); }

private:
    corymb::Multicast* writer_;
    std::vector<const Route*> retired_;
    std::size_t freed_ = 0;
    int periods_ = 0;
};

void read(corymb::MulticastGroup& group, corymb::Rank rank, std::barrier<>& ready) {
    corymb::Multicast me = group.join(rank);
    ready.arrive_and_wait();
    long torn = 0;
    while (!stop) {
        const Route* const held = route.load(); // Safe until the next poll.
        torn += held->hops.front() != held->hops.back() ? 1 : 0;
        me.poll();
        if (rank == 0) {
            const corymb::Multicast::Quiescent idle(me); // Holds nothing: no period waits for it.
            std::this_thread::yield();
        }
    }
    std::printf("reader %d has found %ld torn routes\n", rank, torn);
}

const Route* new_route(int hop) {
    return new Route{{hop, hop, hop, hop}};
}

} // namespace

int main() {
    corymb::MulticastGroup group(readers + 1);
    corymb::Multicast writer = group.initiator(readers);
    Domain domain(writer);
    route = new_route(0);
    {
        std::barrier<> ready(readers + 1);
        std::vector<std::jthread> threads;
        for (corymb::Rank rank = 0; rank < readers; ++rank) {
            threads.emplace_back([&, rank] { read(group, rank, ready); });
        }
        ready.arrive_and_wait();
        for (int update = 1; update <= updates; ++update) {
            domain.replace(new_route(update));
        }
        stop = true;
    }
    domain.synchronize();
    domain.report();
    delete route.load();
}

// SPDX-License-Identifier: Apache-2.0
// What reads and updates of one table by two ranks cost, for shares of reads from 100 to 50 %: a
// Replicated, and between two threads a mutex, a shared mutex, and read-copy-update by liburcu.
// Each does the same: a read adds up eight places, an update changes one.
#include "../threads/case.hpp"
#include "row.hpp"

#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/replicated.hpp>

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(CORYMB_BENCH_URCU)
#include <urcu/urcu-memb.h>
#endif

namespace corymb::bench {
namespace {

constexpr int rounds = 7;
constexpr std::size_t each = 100'000;
constexpr std::size_t places = 64;

struct Places {
    std::array<long, places> value{};
    [[nodiscard]] long sum_from(std::size_t first) const {
        long sum = 0;
        for (std::size_t i = 0; i < 8; ++i) {
            sum += value[(first + i) % places];
        }
        return sum;
    }
    void set(std::size_t at, long to) { value[at % places] = to; }
};

/// Which of a thread's operations are updates.
class Mix {
public:
    Mix(int reads_percent, int thread)
        : reads_(static_cast<std::uint64_t>(reads_percent)),
          state_(static_cast<std::uint64_t>(thread) * 77 + 1) {}
    bool is_read() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return state_ % 100 < reads_;
    }
    [[nodiscard]] std::size_t place() const { return static_cast<std::size_t>(state_ >> 32U); }

private:
    std::uint64_t reads_;
    std::uint64_t state_;
};

/// So that no read is left out by the compiler.
void use(long value) {
    asm volatile("" : : "g"(value) : "memory");
}

/// Nanoseconds for an operation of a thread, while the other one does the same.
double by_threads(int reads, const std::function<void(Mix&)>& work) {
    const std::vector<int> cpus = placement(2);
    std::barrier begin(2);
    double ns[2] = {};
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 2; ++thread) {
            threads.emplace_back([&, thread] {
                bind_this_thread(cpus[static_cast<std::size_t>(thread)]);
                Mix mix(reads, thread);
                begin.arrive_and_wait();
                const auto from = Clock::now();
                work(mix);
                ns[thread] = ns_since(from);
            });
        }
    }
    return (ns[0] + ns[1]) / 2 / each;
}

double by_replicas(int reads, bool is_shared) {
    const std::vector<int> cpus = placement(2);
    double ns[2] = {};
    RemoteGroup group(2);
    {
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < 2; ++rank) {
            threads.emplace_back([&, rank] {
                bind_this_thread(cpus[static_cast<std::size_t>(rank)]);
                RemoteRank own = group.join(rank);
                own.run([](Rank of, int share, bool shared, double& took) -> Task<> {
                    ReplicatedOptions options;
                    options.replica_group = shared ? 0 : of;
                    auto table = co_await Replicated<Places>::make("table", Places(), options);
                    RankBarrier meeting("meeting");
                    Mix mix(share, of);
                    co_await meeting.arrive();
                    const auto from = Clock::now();
                    for (std::size_t i = 0; i < each; ++i) {
                        if (mix.is_read()) {
                            use(table.read(
                                [&](const Places& now) { return now.sum_from(mix.place()); }));
                        } else {
                            co_await table.update<&Places::set>(mix.place(), static_cast<long>(i));
                        }
                    }
                    took = ns_since(from);
                    co_await meeting.arrive();
                }(rank, reads, is_shared, ns[rank]));
            });
        }
    }
    return (ns[0] + ns[1]) / 2 / each;
}

template <class Mutex, class ReadLock>
double by_lock(int reads) {
    struct Guarded {
        Mutex mutex;
        Places table;
    };
    const auto guarded = std::make_unique<Guarded>();
    return by_threads(reads, [&](Mix& mix) {
        for (std::size_t i = 0; i < each; ++i) {
            if (mix.is_read()) {
                const ReadLock lock(guarded->mutex);
                use(guarded->table.sum_from(mix.place()));
            } else {
                const std::lock_guard lock(guarded->mutex);
                guarded->table.set(mix.place(), static_cast<long>(i));
            }
        }
    });
}

#if defined(CORYMB_BENCH_URCU)
double by_rcu(int reads) {
    std::mutex mutex;
    std::atomic<Places*> table(new Places());
    const double ns = by_threads(reads, [&](Mix& mix) {
        urcu_memb_register_thread();
        for (std::size_t i = 0; i < each; ++i) {
            if (mix.is_read()) {
                urcu_memb_read_lock();
                use(table.load(std::memory_order_acquire)->sum_from(mix.place()));
                urcu_memb_read_unlock();
            } else {
                const std::lock_guard lock(mutex);
                Places* const before = table.load(std::memory_order_relaxed);
                auto after = std::make_unique<Places>(*before);
                after->set(mix.place(), static_cast<long>(i));
                table.store(after.release(), std::memory_order_release);
                urcu_memb_synchronize_rcu();
                delete before;
            }
        }
        urcu_memb_unregister_thread();
    });
    delete table.load(std::memory_order_relaxed);
    return ns;
}
#endif

} // namespace

std::vector<Row> replicated_table() {
    const std::vector<std::pair<const char*, std::function<double(int)>>> contestants = {
        {"near",
         [](int reads) {
             return by_replicas(reads, true);
         }},
        {"apart",
         [](int reads) {
             return by_replicas(reads, false);
         }},
        {"mutex", by_lock<std::mutex, std::lock_guard<std::mutex>>},
        {"shared", by_lock<std::shared_mutex, std::shared_lock<std::shared_mutex>>},
#if defined(CORYMB_BENCH_URCU)
        {"rcu", by_rcu},
#endif
    };
    std::vector<Row> rows;
    for (const int reads : {100, 99, 90, 50}) {
        std::vector<std::vector<double>> ns(contestants.size());
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < contestants.size(); ++i) {
                ns[i].push_back(contestants[i].second(reads));
            }
        }
        for (std::size_t i = 0; i < contestants.size(); ++i) {
            rows.push_back(
                {contestants[i].first + ("_" + std::to_string(reads)), 2, quartiles(ns[i])});
        }
    }
    return rows;
}

} // namespace corymb::bench

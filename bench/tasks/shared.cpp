// SPDX-License-Identifier: Apache-2.0
// What shared arrays, maps and queues cost between two ranks, beside a std::unordered_map with a
// mutex between two threads; and how long single operations take while a map of 10^7 entries grows.
#include "../threads/case.hpp"
#include "row.hpp"

#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/shared_array.hpp>
#include <corymb/shared_map.hpp>
#include <corymb/this_task.hpp>
#include <corymb/work_queue.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

using Key = std::uint64_t;
using Map = SharedMap<Key, Key>;
constexpr int rounds = 7;
constexpr std::size_t each = 20'000;
constexpr std::size_t row_length = 1'000;
constexpr std::size_t batch_length = 64;
constexpr std::size_t large = 10'000'000;
constexpr std::size_t probes = 200'000;

/// Runs `main(rank)` on two ranks, each on a CPU of its own.
void on_two(const std::function<Task<>(Rank)>& main) {
    RemoteGroup group(2, {.message_bytes = 120});
    const std::vector<int> cpus = placement(2);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            bind_this_thread(cpus[static_cast<std::size_t>(rank)]);
            RemoteRank own = group.join(rank);
            own.run(main(rank));
        });
    }
}

/// Nanoseconds for one of `count` things that `all` does.
template <class All>
Task<> time_all(std::vector<Row>& rows, const char* what, std::size_t count, All all) {
    std::vector<double> ns;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = Clock::now();
        co_await all();
        ns.push_back(ns_since(begin) / static_cast<double>(count));
    }
    rows.push_back({what, 2, quartiles(ns)});
}

Task<> use_arrays(std::vector<Row>& rows, SharedArray<long>& near, SharedArray<long>& far) {
    const std::size_t half = near.size() / 2; // The elements of rank 1 begin here.
    std::vector<long> some(row_length);
    co_await time_all(rows, "get", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            some[0] += co_await near.get(half + i % half);
        }
    });
    co_await time_all(rows, "put", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            co_await near.put(half + i % half, 1);
        }
    });
    co_await time_all(rows, "add", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            co_await near.accumulate(half + i % half, 1);
        }
    });
    co_await time_all(rows, "get_row", row_length, [&] { return near.get(half, some); });
    co_await time_all(rows, "get_call", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            some[0] += co_await far.get(half + i % half);
        }
    });
    co_await time_all(rows, "row_call", row_length, [&] { return far.get(half, some); });
}

Task<> use_map(std::vector<Row>& rows, Map& map) {
    std::vector<Key> keys; // Those of rank 1.
    std::vector<Key> own;
    for (Key key = 0; keys.size() < row_length || own.size() < row_length; ++key) {
        (map.owner(key) == 1 ? keys : own).push_back(key);
    }
    keys.resize(row_length);
    own.resize(row_length);
    std::vector<std::pair<Key, Key>> entries;
    for (const Key key : keys) {
        entries.emplace_back(key, key);
    }
    co_await time_all(rows, "map_put", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            co_await map.put(keys[i % row_length], i);
        }
    });
    co_await time_all(rows, "map_get", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            static_cast<void>(co_await map.get(keys[i % row_length]));
        }
    });
    co_await time_all(rows, "map_own", each, [&]() -> Task<> {
        for (std::size_t i = 0; i < each; ++i) {
            co_await map.put(own[i % row_length], i);
        }
    });
    co_await time_all(rows, "put_all", row_length,
                      [&]() -> Task<> { co_await map.put_all(entries); });
    co_await time_all(rows, "get_all", row_length,
                      [&]() -> Task<> { static_cast<void>(co_await map.get_all(keys)); });
}

/// std::hash gives the number itself, so neighbours would lie side by side.
Key spread_key(Key key) {
    return key * 0x9e37'79b9'7f4a'7c15U;
}

/// Adds a row for the median and one for the 99.9th percentile.
void add_percentiles(std::vector<Row>& rows, const std::string& what, std::vector<double> ns) {
    std::ranges::sort(ns);
    const auto at = [&ns](double part) {
        return ns[static_cast<std::size_t>(part * static_cast<double>(ns.size() - 1))];
    };
    rows.push_back({what + "_50", 2, {at(0.25), at(0.5), at(0.75)}});
    rows.push_back({what + "_999", 2, {at(0.998), at(0.999), at(0.9999)}});
}

/// Rank 1 puts `large` keys of its own.
Task<> put_many(Map& map) {
    std::vector<std::pair<Key, Key>> batch;
    std::size_t done = 0;
    for (Key key = 0; done < large; ++key) {
        if (map.owner(key) == 1) {
            batch.emplace_back(key, key);
            if (++done % batch_length == 0) {
                co_await map.put_all(std::exchange(batch, {}));
            }
        }
    }
}
/// Rank 0 times single puts to keys of rank 1.
Task<std::vector<double>> time_probes(Map& map) {
    std::vector<Key> keys;
    for (Key key = 0; keys.size() < row_length; ++key) {
        if (map.owner(key) == 1) {
            keys.push_back(key);
        }
    }
    std::vector<double> ns;
    ns.reserve(probes);
    while (ns.size() < probes) {
        const auto begin = Clock::now();
        co_await map.put(keys[ns.size() % row_length], 1);
        ns.push_back(ns_since(begin));
    }
    co_return ns;
}
/// How long single operations take while the map grows, and while the same keys are put again.
Task<> grow(std::vector<Row>& rows) {
    Map map("grows");
    RankBarrier barrier("grown");
    for (const char* const what : {"map_grow", "map_full"}) {
        co_await barrier.arrive();
        if (here() == 1) {
            co_await put_many(map);
        } else {
            add_percentiles(rows, what, co_await time_probes(map));
        }
        co_await barrier.arrive();
    }
}

/// As `grow`, for a std::unordered_map with a mutex, which two threads use.
void with_mutex(std::vector<Row>& rows) {
    std::unordered_map<Key, Key> map;
    std::mutex mutex;
    const auto put = [&](Key key, Key value) {
        const std::lock_guard lock(mutex);
        map[key] = value;
    };
    const std::vector<int> cpus = placement(2);
    for (const char* const what : {"mutex_grow", "mutex_full"}) {
        std::jthread other([&] {
            bind_this_thread(cpus[1]);
            for (Key key = 0; key < large; ++key) {
                put(spread_key(key), key);
            }
        });
        bind_this_thread(cpus[0]);
        std::vector<double> ns;
        for (std::size_t i = 0; i < probes; ++i) {
            const auto begin = Clock::now();
            put(spread_key(i % row_length), i);
            ns.push_back(ns_since(begin));
            std::this_thread::sleep_for(std::chrono::microseconds(1)); // A mutex is not fair.
        }
        add_percentiles(rows, what, std::move(ns));
    }
}

} // namespace

std::vector<Row> shared_structures() {
    std::vector<Row> rows;
    on_two([&rows](Rank rank) -> Task<> {
        SharedArrayOptions<long> by_calls;
        by_calls.by_calls = true;
        auto near = co_await SharedArray<long>::make("near", 2 * row_length);
        auto far = co_await SharedArray<long>::make("far", 2 * row_length, by_calls);
        Map map("map");
        RankBarrier barrier("used");
        if (rank == 0) {
            co_await use_arrays(rows, near, far);
            co_await use_map(rows, map);
        }
        co_await barrier.arrive();
        WorkQueue<Key> queue("items");
        std::vector<double> ns;
        for (int round = 0; round < rounds; ++round) {
            for (Key item = 0; rank == 0 && item < each; ++item) {
                queue.push(item);
            }
            const auto begin = Clock::now();
            co_await queue.run([](Key) {});
            ns.push_back(ns_since(begin) / each);
        }
        if (rank == 0) {
            rows.push_back({"item", 2, quartiles(ns)});
        }
        co_await grow(rows);
    });
    std::jthread([&rows] { with_mutex(rows); }).join();
    return rows;
}

} // namespace corymb::bench

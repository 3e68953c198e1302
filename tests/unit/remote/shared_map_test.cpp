// SPDX-License-Identifier: Apache-2.0
#include "remote/among.hpp"
#include "remote/over_nodes.hpp"

#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/shared_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace corymb {
namespace {

template <class K>
K key_of(unsigned number) {
    if constexpr (std::is_same_v<K, std::string>) {
        return "key " + std::to_string(number);
    } else {
        return K{number} << 20U; // Numbers that differ in higher bits only.
    }
}

/// Random operations on a std::map, and on the map if it is this rank's turn. All ranks draw the
/// same ones.
template <class K, class V>
class MapModel {
public:
    explicit MapModel(unsigned keys) : keys_(keys) {}

    Task<> step(SharedMap<K, V>* map) {
        switch (below(8)) {
        case 0: return put(map, key(), below(100));
        case 1: return insert(map, key(), below(100));
        case 2: return erase(map, key());
        case 3: return update(map, key(), 1 + below(9));
        case 4: return put_all(map, list());
        case 5: return erase_all(map, list());
        case 6: return update_all(map, list());
        default: return compare(map, list(), key());
        }
    }
    Task<> compare_size(const SharedMap<K, V>& map) {
        EXPECT_EQ(co_await map.size(), values_.size());
        std::size_t local = 0;
        map.for_local([&](const K& one, const V& value) {
            ++local;
            EXPECT_EQ(map.owner(one), here());
            EXPECT_EQ(values_.at(one), value);
        });
        EXPECT_EQ(map.local_size(), local);
    }

private:
    unsigned below(unsigned limit) { return static_cast<unsigned>(random_()) % limit; }
    K key() { return key_of<K>(below(keys_)); }
    std::vector<K> list() {
        std::vector<K> keys(below(12));
        std::ranges::generate(keys, [this] { return key(); });
        return keys;
    }
    Task<> put(SharedMap<K, V>* map, K key, V value) {
        const bool is_new = values_.insert_or_assign(key, value).second;
        if (map != nullptr) {
            EXPECT_EQ(co_await map->put(key, value), is_new);
        }
    }
    Task<> insert(SharedMap<K, V>* map, K key, V value) {
        const bool is_new = values_.emplace(key, value).second;
        if (map != nullptr) {
            EXPECT_EQ(co_await map->insert(key, value), is_new);
        }
    }
    Task<> erase(SharedMap<K, V>* map, K key) {
        const bool was_there = values_.erase(key) != 0;
        if (map != nullptr) {
            EXPECT_EQ(co_await map->erase(key), was_there);
        }
    }
    Task<> update(SharedMap<K, V>* map, K key, V more) {
        const V sum = values_[key] += more;
        if (map != nullptr) {
            const auto add = [](V& value, V by) {
                return value += by;
            };
            EXPECT_EQ(co_await map->update(key, add, more), sum);
        }
    }
    Task<> put_all(SharedMap<K, V>* map, std::vector<K> keys) {
        std::vector<std::pair<K, V>> entries;
        std::size_t made = 0;
        for (const K& one : keys) {
            entries.emplace_back(one, below(100));
            made += values_.insert_or_assign(one, entries.back().second).second ? 1U : 0U;
        }
        if (map != nullptr) {
            EXPECT_EQ(co_await map->put_all(entries), made);
        }
    }
    Task<> erase_all(SharedMap<K, V>* map, std::vector<K> keys) {
        std::size_t erased = 0;
        for (const K& one : keys) {
            erased += values_.erase(one);
        }
        if (map != nullptr) {
            EXPECT_EQ(co_await map->erase_all(keys), erased);
        }
    }
    Task<> update_all(SharedMap<K, V>* map, std::vector<K> keys) {
        std::vector<std::pair<K, V>> entries;
        for (const K& one : keys) {
            entries.emplace_back(one, below(10));
            values_[one] += entries.back().second;
        }
        if (map != nullptr) {
            co_await map->update_all(entries, [](V& value, const V& by) { value += by; });
        }
    }
    Task<> compare(SharedMap<K, V>* map, std::vector<K> keys, K single) {
        if (map == nullptr) {
            co_return;
        }
        const auto all = co_await map->get_all(keys);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            EXPECT_EQ(all[i], value(keys[i]));
        }
        EXPECT_EQ(co_await map->get(single), value(single));
        EXPECT_EQ(co_await map->contains(single), values_.contains(single));
    }
    std::optional<V> value(const K& key) const {
        const auto found = values_.find(key);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
    }
    unsigned keys_;
    std::map<K, V> values_;
    std::minstd_rand random_{23};
};

template <class K>
Task<> share_a_map(unsigned keys, SharedMapOptions options = {}) {
    SharedMap<K, long> map("map", options);
    RankBarrier barrier("turns");
    MapModel<K, long> model(keys);
    for (int turn = 0; turn < 3 * ranks(); ++turn) {
        for (int step = 0; step < 40; ++step) {
            co_await model.step(turn % ranks() == here() ? &map : nullptr);
        }
        co_await barrier.arrive();
    }
    co_await model.compare_size(map);
    co_await barrier.arrive();
}

class MapAmong : public testing::TestWithParam<std::pair<int, unsigned>> {};

TEST_P(MapAmong, IsOneMapForAllRanks) {
    const int size = GetParam().first;
    const unsigned keys = GetParam().second;
    among(size, [keys](Rank) { return share_a_map<std::uint64_t>(keys); });
    among(size, [keys](Rank) { return share_a_map<std::string>(keys); });
}

TEST_P(MapAmong, IsTheSameWithCopies) {
    const int size = GetParam().first;
    const unsigned keys = GetParam().second;
    for (const std::size_t cache_bytes : {100U, 1'000'000U}) {
        const SharedMapOptions options{Placement::cached, cache_bytes};
        among(size, [&](Rank) { return share_a_map<std::string>(keys, options); });
    }
}

TEST(SharedMap, KeepsWhatItHasReadUntilThatIsWritten) {
    among(2, [](Rank rank) -> Task<> {
        SharedMap<int, long> map("cached", {Placement::cached});
        RankBarrier barrier("turns");
        int key = 0; // Rank 1 has it.
        while (map.owner(key) != 1) {
            ++key;
        }
        for (long value = 1; value <= 3; ++value) {
            if (rank == 1) {
                co_await map.put(key, value);
            }
            co_await barrier.arrive();
            EXPECT_EQ(map.memory().replicas, 0U) << "the put has dropped it";
            EXPECT_EQ(co_await map.get(key), value);
            EXPECT_TRUE(co_await map.contains(key));
            EXPECT_EQ(map.memory().replicas != 0, rank == 0);
            co_await barrier.arrive();
        }
    });
}

/// What a rank cannot know when others give other options, it does not let them keep.
TEST(SharedMap, AsksAnOwnerThatKeepsNoBook) {
    among(2, [](Rank rank) -> Task<> {
        const Placement own = rank == 0 ? Placement::cached : Placement::owned;
        SharedMap<int, long> map("mixed", {own});
        RankBarrier barrier("turns");
        int key = 0; // Rank 1 has it.
        while (map.owner(key) != 1) {
            ++key;
        }
        if (rank == 0) {
            co_await map.put(key, 3);
            EXPECT_EQ(co_await map.get(key), 3);
            EXPECT_EQ(map.memory().replicas, 0U);
        }
        co_await barrier.arrive();
    });
}

TEST(SharedMap, HasNoReplicas) {
    among(1, [](Rank) -> Task<> {
        const SharedMapOptions options{Placement::replicated};
        EXPECT_THROW((SharedMap<int, long>("map", options)), Error);
        co_return;
    });
}

INSTANTIATE_TEST_SUITE_P(Sizes, MapAmong,
                         testing::Values(std::pair(1, 20U), std::pair(2, 5U), std::pair(3, 60U),
                                         std::pair(4, 400U)));

TEST(SharedMap, LiesOnSeveralNodes) {
    over_nodes({0, 1, 0}, [](Rank) { return share_a_map<std::string>(50); });
}

TEST(SharedMap, GrowsAndKeepsAll) {
    among(2, [](Rank rank) -> Task<> {
        constexpr unsigned count = 20'000;
        SharedMap<unsigned, unsigned> map("large");
        RankBarrier barrier("grown");
        std::vector<std::pair<unsigned, unsigned>> entries;
        for (unsigned i = 0; i < count; ++i) {
            entries.emplace_back(2 * i + static_cast<unsigned>(rank), i);
        }
        EXPECT_EQ(co_await map.put_all(entries), count);
        co_await barrier.arrive();
        EXPECT_EQ(co_await map.size(), 2 * count);
        const double share = static_cast<double>(map.local_size()) / (2.0 * count);
        EXPECT_NEAR(share, 0.5, 0.05) << "keys are spread";
        for (unsigned i = 0; i < 2 * count; i += 97) {
            EXPECT_EQ(co_await map.get(i), i / 2);
        }
        const MemoryUse use = map.memory();
        EXPECT_EQ(use.data, map.local_size() * 2 * sizeof(unsigned));
        EXPECT_LE(use.overhead, map.local_size() * 12 + 20'000);
        co_await barrier.arrive();
    });
}

TEST(SharedMap, ConcurrentUpdatesAreWhole) {
    constexpr int size = 4;
    among(size, [](Rank) -> Task<> {
        constexpr int rounds = 200;
        SharedMap<int, long> map("counts");
        RankBarrier barrier("counted");
        const auto add = [](long& value, long by) {
            value += by;
        };
        for (int round = 0; round < rounds; ++round) {
            co_await map.update(round % 7, add, 1L);
            std::vector<std::pair<int, long>> three{{0, 1L}, {1, 1L}, {2, 1L}};
            co_await map.update_all(three, add);
        }
        co_await barrier.arrive();
        long all = 0;
        map.for_local([&all](int /*key*/, long value) { all += value; });
        SharedMap<int, long> sums("sums");
        co_await sums.update(0, add, all);
        co_await barrier.arrive();
        EXPECT_EQ(co_await sums.get(0), 4L * size * rounds);
        co_await barrier.arrive();
    });
}

TEST(SharedSet, IsOneSetForAllRanks) {
    among(3, [](Rank rank) -> Task<> {
        SharedSet<std::string> words("words");
        RankBarrier barrier("turns");
        std::minstd_rand random(5); // Equal on all ranks.
        std::set<std::string> model;
        for (int step = 0; step < 150; ++step) {
            const bool is_turn = step % 3 == rank;
            std::vector<std::string> some;
            for (auto left = random() % 5; left != 0; --left) {
                some.push_back(std::to_string(random() % 40));
            }
            const std::size_t before = model.size();
            const auto kind = random() % 3;
            if (kind == 0) {
                model.insert(some.begin(), some.end());
            } else if (kind == 1) {
                std::ranges::for_each(some, [&model](const auto& word) { model.erase(word); });
            }
            if (is_turn && kind == 0) {
                EXPECT_EQ(co_await words.insert_all(some), model.size() - before);
            } else if (is_turn && kind == 1) {
                EXPECT_EQ(co_await words.erase_all(some), before - model.size());
            } else if (is_turn) {
                const auto there = co_await words.contains_all(some);
                for (std::size_t i = 0; i < some.size(); ++i) {
                    EXPECT_EQ(there[i] == 1, model.contains(some[i]));
                }
            }
            co_await barrier.arrive();
        }
        EXPECT_EQ(co_await words.size(), model.size());
        if (rank == 0) {
            EXPECT_TRUE(co_await words.insert("new"));
            EXPECT_FALSE(co_await words.insert("new"));
            EXPECT_TRUE(co_await words.contains("new"));
            EXPECT_TRUE(co_await words.erase("new"));
            EXPECT_FALSE(co_await words.contains("new"));
        }
        words.for_local(
            [&](const std::string& word) { EXPECT_TRUE(word == "new" || model.contains(word)); });
        co_await barrier.arrive();
    });
}

TEST(SharedMap, KeysOfARankThatHasLeftAreRefused) {
    RemoteGroup group(2);
    std::jthread leaver([&group] {
        RemoteRank own = group.join(1);
        own.scheduler().poll();
    });
    RemoteRank own = group.join(0);
    own.run([]() -> Task<> {
        SharedMap<int, int> map("left");
        int refused = 0;
        for (int key = 0; key < 20; ++key) {
            try {
                co_await map.put(key, key);
                EXPECT_EQ(map.owner(key), 0);
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::team_broken);
                EXPECT_EQ(error.ranks(), std::vector<int>{1});
                ++refused;
            }
        }
        EXPECT_EQ(static_cast<std::size_t>(20 - refused), map.local_size());
    }());
}

} // namespace
} // namespace corymb

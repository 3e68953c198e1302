// SPDX-License-Identifier: Apache-2.0
// One rank's entries of a shared map or set, what others ask of them, and how many keys are divided
// among the ranks.
#pragma once

#include <corymb/detail/growing_table.hpp>
#include <corymb/detail/now_or_later.hpp>
#include <corymb/distributed.hpp>
#include <corymb/export.hpp>
#include <corymb/finish.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb::detail {

/// Keys of one call that are served before others have their turn.
[[nodiscard]] CORYMB_EXPORT std::size_t keys_of_a_turn() noexcept;

/// Runs `each(i)` for all numbers below `count`; others have their turns meanwhile.
template <class Each>
Task<> in_turns(std::size_t count, Each each) {
    for (std::size_t i = 0; i < count; ++i) {
        if (i != 0 && i % keys_of_a_turn() == 0) {
            co_await this_task::yield();
        }
        each(i);
    }
}

template <class K, class V, class Hash>
class MapShard {
public:
    struct HashOf {
        std::uint64_t operator()(const K& key) const { return spread(Hash()(key)); }
    };
    using Table = GrowingTable<K, V, HashOf>;

    [[nodiscard]] bool contains(const K& key) const { return find(key) != nullptr; }
    [[nodiscard]] std::optional<V> get(const K& key) const {
        const auto* const found = find(key);
        return found == nullptr ? std::nullopt : std::optional<V>(found->value);
    }
    bool insert(const K& key, const V& value) {
        const std::uint64_t hash = HashOf()(key);
        if (table_.find(hash, key) != nullptr) {
            return false;
        }
        table_.add(hash, key, value);
        return true;
    }
    bool put(const K& key, const V& value) {
        const std::uint64_t hash = HashOf()(key);
        if (auto* const found = table_.find(hash, key)) {
            found->value = value;
            return false;
        }
        table_.add(hash, key, value);
        return true;
    }
    bool erase(const K& key) { return table_.erase(HashOf()(key), key); }
    template <class F, class... A>
    auto update(const K& key, F change, A... arguments) {
        const std::uint64_t hash = HashOf()(key);
        auto* found = table_.find(hash, key);
        if (found == nullptr) {
            found = &table_.add(hash, key);
        }
        return change(found->value, arguments...);
    }

    Task<std::vector<char>> contains_all(std::vector<K> keys) {
        std::vector<char> all(keys.size());
        co_await in_turns(keys.size(), [&](std::size_t i) { all[i] = contains(keys[i]) ? 1 : 0; });
        co_return all;
    }
    Task<std::vector<std::optional<V>>> get_all(std::vector<K> keys) {
        std::vector<std::optional<V>> all(keys.size());
        co_await in_turns(keys.size(), [&](std::size_t i) { all[i] = get(keys[i]); });
        co_return all;
    }
    Task<std::uint64_t> put_all(std::vector<std::pair<K, V>> entries) {
        std::uint64_t made = 0;
        co_await in_turns(entries.size(), [&](std::size_t i) {
            made += put(entries[i].first, entries[i].second) ? 1U : 0U;
        });
        co_return made;
    }
    Task<std::uint64_t> erase_all(std::vector<K> keys) {
        std::uint64_t erased = 0;
        co_await in_turns(keys.size(), [&](std::size_t i) { erased += erase(keys[i]) ? 1U : 0U; });
        co_return erased;
    }
    template <class F, class A>
    Task<> update_all(std::vector<std::pair<K, A>> entries, F change) {
        co_await in_turns(entries.size(), [&](std::size_t i) {
            update(entries[i].first, change, entries[i].second);
        });
    }
    [[nodiscard]] std::uint64_t size() const noexcept { return table_.size(); }
    [[nodiscard]] const Table& table() const noexcept { return table_; }

private:
    [[nodiscard]] auto* find(const K& key) const { return table_.find(HashOf()(key), key); }
    Table table_;
};

/// The shards of all ranks.
template <class K, class V, class Hash>
class Shards {
public:
    using Shard = MapShard<K, V, Hash>;
    explicit Shards(std::string_view name) : own_(here()), ranks_(ranks()), shards_(name) {}

    /// The higher half of the hash says the rank, the lower one the place there.
    [[nodiscard]] Rank owner(const K& key) const {
        const std::uint64_t high = typename Shard::HashOf()(key) >> 32U;
        return static_cast<Rank>(high * static_cast<std::uint64_t>(ranks_) >> 32U);
    }
    [[nodiscard]] Shard& local() const noexcept { return shards_.local(); }
    [[nodiscard]] Remote<Shard> on(Rank rank) const noexcept { return shards_.on(rank); }
    [[nodiscard]] int size() const noexcept { return ranks_; }

    /// Calls a method of the shard that has the key, at once if that is this rank's.
    template <auto Method, class... A>
    auto call(const K& key, const A&... arguments) const {
        using R = std::remove_cvref_t<
            std::invoke_result_t<decltype(Method), Shard&, const K&, const A&...>>;
        const Rank rank = owner(key);
        if (rank == own_) {
            if constexpr (std::is_void_v<R>) {
                (local().*Method)(key, arguments...);
                return NowOrLater<R>(true);
            } else {
                return NowOrLater<R>((local().*Method)(key, arguments...));
            }
        }
        return NowOrLater<R>(far<R, Method, K, A...>(on(rank), key, arguments...));
    }

    /// Things for one rank, and where they were among all.
    template <class Thing>
    struct Part {
        std::vector<Thing> things;
        std::vector<std::size_t> positions;
    };
    /// Divides things among the ranks of their keys, and awaits each(rank, part) for those that get
    /// some.
    template <class Thing, class KeyOf, class Each>
    Task<> divide(std::vector<Thing> things, KeyOf key_of, const Each& each) const {
        std::vector<Part<Thing>> parts(static_cast<std::size_t>(ranks_));
        for (std::size_t i = 0; i < things.size(); ++i) {
            Part<Thing>& part = parts[static_cast<std::size_t>(owner(key_of(things[i])))];
            part.things.push_back(std::move(things[i]));
            part.positions.push_back(i);
        }
        co_await finish([&] {
            for (std::size_t rank = 0; rank < parts.size(); ++rank) {
                if (!parts[rank].things.empty()) {
                    static_cast<void>(spawn(each(static_cast<Rank>(rank), parts[rank])));
                }
            }
        });
    }
    /// The sum of what a bulk method gives on all ranks.
    template <auto Method, class Thing, class KeyOf>
    Task<std::size_t> sum(std::vector<Thing> things, KeyOf key_of) const {
        std::uint64_t all = 0;
        co_await divide(std::move(things), key_of,
                        [this, &all](Rank rank, Part<Thing>& part) -> Task<> {
                            all += co_await on(rank).template call<Method>(std::move(part.things));
                        });
        co_return static_cast<std::size_t>(all);
    }
    /// What a bulk method gives for each key, in the order of the keys.
    template <auto Method, class R>
    Task<std::vector<R>> each(std::vector<K> keys) const {
        std::vector<R> all(keys.size());
        co_await divide(
            std::move(keys), std::identity(), [this, &all](Rank rank, Part<K>& part) -> Task<> {
                auto got = co_await on(rank).template call<Method>(std::move(part.things));
                for (std::size_t i = 0; i < got.size(); ++i) {
                    all[part.positions[i]] = std::move(got[i]);
                }
            });
        co_return all;
    }
    [[nodiscard]] Task<std::size_t> count() const {
        std::size_t all = 0;
        for (Rank rank = 0; rank < ranks_; ++rank) {
            all += co_await on(rank).template call<&Shard::size>();
        }
        co_return all;
    }
    [[nodiscard]] MemoryUse memory() const noexcept {
        const auto& table = local().table();
        const std::size_t data = table.size() * sizeof(typename Shard::Table::Entry);
        return {data, 0, table.bytes() - data + sizeof(Shard) + sizeof *this};
    }

private:
    template <class R, auto Method, class... A>
    static Task<R> far(Remote<Shard> on, A... arguments) {
        co_return co_await on.template call<Method>(std::move(arguments)...);
    }
    Rank own_;
    int ranks_;
    Distributed<Shard> shards_;
};

} // namespace corymb::detail

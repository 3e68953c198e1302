// SPDX-License-Identifier: Apache-2.0
// Maps and sets whose entries are spread over the ranks of a group. docs/reference/shared.md says
// what readers may see.
#pragma once

#include <corymb/detail/map_shard.hpp>
#include <corymb/detail/recall.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/task.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

/// Values by key, each on the rank that the hash of its key says. All ranks make one of the same
/// name. Keys and values travel as RemoteCodec says; `Hash` gives the same for a key in all
/// processes, as std::hash does for numbers and strings. Movable, must outlive its operations. For
/// the thread of its rank.
///
/// An operation on one key takes effect at once, on the rank of the key, and takes constant time
/// there on average, also while the map grows. One of many keys sends one message to each rank and
/// takes effect key by key, in between those of others. Operations throw as `at`: in particular
/// Errc::team_broken for a key whose rank has gone.
template <class K, class V, class Hash = std::hash<K>>
class SharedMap {
public:
    using Options = SharedMapOptions;
    /// In a task. Sends nothing. All ranks give the same options. Throws as Distributed, and
    /// Errc::unsupported for Placement::replicated.
    explicit SharedMap(std::string_view name, const Options& options = {})
        : shards_(name, options) {}

    [[nodiscard]] Rank owner(const K& key) const { return shards_.owner(key); }

    /// For co_await: the value, if there is one.
    [[nodiscard]] detail::NowOrLater<std::optional<V>> get(const K& key) const {
        return shards_.get(key);
    }
    [[nodiscard]] detail::NowOrLater<bool> contains(const K& key) const {
        return shards_.contains(key);
    }
    /// For co_await: sets the value. Whether the key is new.
    [[nodiscard]] detail::NowOrLater<bool> put(const K& key, const V& value) {
        return shards_.template write<&Shard::put>(key, value);
    }
    /// For co_await: sets the value if there is none. Whether the key is new.
    [[nodiscard]] detail::NowOrLater<bool> insert(const K& key, const V& value) {
        return shards_.template write<&Shard::insert>(key, value);
    }
    /// For co_await: whether there was a value.
    [[nodiscard]] detail::NowOrLater<bool> erase(const K& key) {
        return shards_.template write<&Shard::erase>(key);
    }
    /// For co_await: runs change(V& value, arguments...) on the rank of the key, and gives its
    /// result. A V() is made first if there is no value. `change` travels as the function of `at`,
    /// runs as a whole, and gives no Task.
    template <class F, class... A>
    [[nodiscard]] auto update(const K& key, F change, A... arguments) {
        static_assert(detail::is_object_that_travels<F>());
        static_assert(!detail::is_task<std::invoke_result_t<F&, V&, A&...>>,
                      "a change of one entry cannot wait");
        return shards_.template write<&Shard::template update<F, A...>>(key, change, arguments...);
    }

    // For co_await, of many keys at once.
    /// The values in the order of the keys.
    [[nodiscard]] Task<std::vector<std::optional<V>>> get_all(std::vector<K> keys) const {
        return shards_.template each<&Shard::get_all, std::optional<V>>(std::move(keys));
    }
    /// How many keys are new. If a key is there twice, the latter value stays.
    [[nodiscard]] Task<std::size_t> put_all(std::vector<std::pair<K, V>> entries) {
        return shards_.template sum<&Shard::put_all>(std::move(entries), first_of);
    }
    /// How many keys had a value.
    [[nodiscard]] Task<std::size_t> erase_all(std::vector<K> keys) {
        return shards_.template sum<&Shard::erase_all>(std::move(keys), std::identity());
    }
    /// As `update` of each first, with the second as its argument: change(V&, const A&).
    template <class A, class F>
    [[nodiscard]] Task<> update_all(std::vector<std::pair<K, A>> entries, F change) {
        static_assert(detail::is_object_that_travels<F>());
        using Part = typename Shards::template Part<std::pair<K, A>>;
        const auto each = [this, &change](Rank rank, Part& part) -> Task<> {
            constexpr auto update = &Shard::template update_all<F, A>;
            if (shards_.is_cached()) {
                using Entries = std::vector<std::pair<K, A>>;
                co_await shards_.on(rank)
                    .template call<&Shard::template change<update, Entries, F>>(
                        std::move(part.things), change);
            } else {
                co_await shards_.on(rank).template call<update>(std::move(part.things), change);
            }
        };
        co_await shards_.divide(std::move(entries), first_of, each);
    }

    /// For co_await: the entries of all ranks. Asks each rank.
    [[nodiscard]] Task<std::size_t> size() const { return shards_.count(); }
    [[nodiscard]] std::size_t local_size() const noexcept { return shards_.local().size(); }
    /// Calls f(key, value) for each entry of this rank. `f` must not use the map.
    template <class F>
    void for_local(const F& f) const {
        shards_.local().table().for_each([&f](const auto& entry) { f(entry.key, entry.value); });
    }
    [[nodiscard]] MemoryUse memory() const noexcept { return shards_.memory(); }

private:
    using Shards = detail::Shards<K, V, Hash>;
    using Shard = typename Shards::Shard;
    static constexpr auto first_of = [](const auto& entry) -> const K& {
        return entry.first;
    };
    Shards shards_;
};

/// Keys, each on the rank that its hash says. As SharedMap.
template <class K, class Hash = std::hash<K>>
class SharedSet {
public:
    using Options = SharedMapOptions;
    /// As SharedMap.
    explicit SharedSet(std::string_view name, const Options& options = {})
        : shards_(name, options) {}

    [[nodiscard]] Rank owner(const K& key) const { return shards_.owner(key); }
    [[nodiscard]] detail::NowOrLater<bool> contains(const K& key) const {
        return shards_.contains(key);
    }
    /// For co_await: whether the key is new.
    [[nodiscard]] detail::NowOrLater<bool> insert(const K& key) {
        return shards_.template write<&Shard::insert>(key, Nothing());
    }
    /// For co_await: whether the key was there.
    [[nodiscard]] detail::NowOrLater<bool> erase(const K& key) {
        return shards_.template write<&Shard::erase>(key);
    }
    /// For co_await: 1 or 0 for each key, in their order.
    [[nodiscard]] Task<std::vector<char>> contains_all(std::vector<K> keys) const {
        return shards_.template each<&Shard::contains_all, char>(std::move(keys));
    }
    /// For co_await: how many keys are new.
    [[nodiscard]] Task<std::size_t> insert_all(std::vector<K> keys) {
        std::vector<std::pair<K, Nothing>> entries;
        entries.reserve(keys.size());
        for (K& key : keys) {
            entries.emplace_back(std::move(key), Nothing());
        }
        return shards_.template sum<&Shard::put_all>(
            std::move(entries), [](const auto& entry) -> const K& { return entry.first; });
    }
    /// For co_await: how many keys were there.
    [[nodiscard]] Task<std::size_t> erase_all(std::vector<K> keys) {
        return shards_.template sum<&Shard::erase_all>(std::move(keys), std::identity());
    }
    [[nodiscard]] Task<std::size_t> size() const { return shards_.count(); }
    [[nodiscard]] std::size_t local_size() const noexcept { return shards_.local().size(); }
    /// Calls f(key) for each key of this rank. `f` must not use the set.
    template <class F>
    void for_local(const F& f) const {
        shards_.local().table().for_each([&f](const auto& entry) { f(entry.key); });
    }
    [[nodiscard]] MemoryUse memory() const noexcept { return shards_.memory(); }

private:
    struct Nothing {};
    using Shards = detail::Shards<K, Nothing, Hash>;
    using Shard = typename Shards::Shard;
    Shards shards_;
};

} // namespace corymb

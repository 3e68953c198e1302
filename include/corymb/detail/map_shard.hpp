// SPDX-License-Identifier: Apache-2.0
// One rank's entries of a shared map or set, what others ask of them, and how many keys are divided
// among the ranks.
#pragma once

#include <corymb/detail/copies.hpp>
#include <corymb/detail/finish_whole.hpp>
#include <corymb/detail/growing_table.hpp>
#include <corymb/detail/now_or_later.hpp>
#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/finish.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/placement.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

struct SharedMapOptions {
    Placement placement = Placement::owned; ///< Not replicated.
    /// Placement::cached: bytes of copies that a rank keeps at most, as they travel. It drops all
    /// of them then.
    std::size_t cache_bytes = std::size_t{64} << 20U;
};

} // namespace corymb

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

    /// `copies`: null if there are none.
    explicit MapShard(std::shared_ptr<Copies> copies) noexcept : copies_(std::move(copies)) {}

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

    // Copies. The pieces are the hashes of keys.
    /// The value, for a rank that may keep it if it is not about to change.
    [[nodiscard]] std::pair<bool, std::optional<V>> hand_out(const K& key, Rank to) {
        return {copies_ != nullptr && copies_->hand_out(HashOf()(key), to), get(key)};
    }
    /// Calls a method that writes a key or many, when no rank has a copy of what it writes.
    template <auto Method, class Of, class... A>
    auto change(Of of, A... arguments) -> Task<
        typename ResultOf<std::invoke_result_t<decltype(Method), MapShard&, Of, A...>>::Type> {
        std::vector<Piece> pieces;
        if constexpr (std::is_same_v<Of, K>) {
            pieces.push_back(HashOf()(of));
        } else {
            for (const auto& thing : of) {
                pieces.push_back(HashOf()(key_in(thing)));
            }
        }
        const auto write = [&] {
            return (this->*Method)(std::move(of), std::move(arguments)...);
        };
        if (copies_ == nullptr) { // Ranks that give other options than this one keep no copies.
            if constexpr (is_task<std::invoke_result_t<decltype(write)&>>) {
                co_return co_await write();
            } else {
                co_return write();
            }
        }
        co_return co_await copies_->change(std::move(pieces), write);
    }

private:
    static const K& key_in(const K& key) noexcept { return key; }
    template <class Rest>
    static const K& key_in(const std::pair<K, Rest>& entry) noexcept {
        return entry.first;
    }
    [[nodiscard]] auto* find(const K& key) const { return table_.find(HashOf()(key), key); }
    std::shared_ptr<Copies> copies_;
    Table table_;
};

/// The shards of all ranks.
template <class K, class V, class Hash>
class Shards {
public:
    using Shard = MapShard<K, V, Hash>;
    Shards(std::string_view name, const SharedMapOptions& options)
        : own_(here()), ranks_(ranks()), copies_(copies_for(name, options)),
          shards_(name, copies_.has_value() ? copies_->copies() : nullptr) {}

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

    /// As `call`, of a method that writes.
    template <auto Method, class... A>
    auto write(const K& key, const A&... arguments) const
        -> decltype(call<Method>(key, arguments...)) {
        if (!is_cached() || (owner(key) == own_ && !copies().is_kept(piece(key)))) {
            return call<Method>(key, arguments...);
        }
        using R = std::remove_cvref_t<
            std::invoke_result_t<decltype(Method), Shard&, const K&, const A&...>>;
        constexpr auto change = &Shard::template change<Method, K, A...>;
        return far<R, change, K, A...>(on(owner(key)), key, arguments...);
    }
    [[nodiscard]] bool is_cached() const noexcept { return copies_.has_value(); }
    /// The value of a key, out of a copy if there is one.
    [[nodiscard]] NowOrLater<std::optional<V>> get(const K& key) const {
        if (!is_cached() || owner(key) == own_) {
            return call<&Shard::get>(key);
        }
        const Copy* const copy = copies().template find<Copy>(piece(key));
        if (copy != nullptr && copy->first == key) {
            return copy->second;
        }
        return fetch(key);
    }
    [[nodiscard]] NowOrLater<bool> contains(const K& key) const {
        if (!is_cached() || owner(key) == own_) {
            return call<&Shard::contains>(key);
        }
        const Copy* const copy = copies().template find<Copy>(piece(key));
        if (copy != nullptr && copy->first == key) {
            return copy->second.has_value();
        }
        return fetch_whether(key);
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
        const auto call_all = [&] {
            for (std::size_t rank = 0; rank < parts.size(); ++rank) {
                if (!parts[rank].things.empty()) {
                    static_cast<void>(spawn(each(static_cast<Rank>(rank), parts[rank])));
                }
            }
        };
        co_await finish_whole(call_all, "other ranks' parts of a map");
    }
    /// The sum of what a bulk method that writes gives on all ranks.
    template <auto Method, class Thing, class KeyOf>
    Task<std::size_t> sum(std::vector<Thing> things, KeyOf key_of) const {
        if (is_cached()) {
            constexpr auto change = &Shard::template change<Method, std::vector<Thing>>;
            return sum_of<change>(std::move(things), key_of);
        }
        return sum_of<Method>(std::move(things), key_of);
    }
    template <auto Method, class Thing, class KeyOf>
    Task<std::size_t> sum_of(std::vector<Thing> things, KeyOf key_of) const {
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
        MemoryUse use{data, 0, table.bytes() - data + sizeof(Shard) + sizeof *this};
        if (is_cached()) {
            use.replicas = copies().kept_bytes();
            use.overhead += copies().overhead();
        }
        return use;
    }

private:
    using Copy = std::pair<K, std::optional<V>>;
    static std::optional<CopiesPlace> copies_for(std::string_view name,
                                                 const SharedMapOptions& options) {
        std::optional<CopiesPlace> copies;
        if (options.placement == Placement::replicated) {
            throw Error(
                Errc::unsupported,
                "entries of a map or set are not replicated: use Placement::cached, or keep "
                "what is only read in a SharedArray or Replicated");
        }
        if (options.placement == Placement::cached) {
            copies.emplace(std::string(name) + " (copies)", options.cache_bytes);
        }
        return copies;
    }
    [[nodiscard]] Copies& copies() const noexcept { return *copies_->copies(); }
    [[nodiscard]] static Piece piece(const K& key) { return typename Shard::HashOf()(key); }
    Task<bool> fetch_whether(K key) const {
        const std::optional<V> value = co_await fetch(std::move(key));
        co_return value.has_value();
    }
    Task<std::optional<V>> fetch(K key) const {
        Copies::Fetch fetch(copies_->copies(), piece(key));
        std::pair<bool, std::optional<V>> come =
            co_await on(owner(key)).template call<&Shard::hand_out>(key, own_);
        if (come.first) {
            const std::size_t bytes = size_of_all(key, come.second);
            fetch.keep(std::make_shared<const Copy>(std::move(key), come.second), bytes);
        }
        co_return std::move(come.second);
    }
    template <class R, auto Method, class... A>
    static Task<R> far(Remote<Shard> on, A... arguments) {
        co_return co_await on.template call<Method>(std::move(arguments)...);
    }
    Rank own_;
    int ranks_;
    std::optional<CopiesPlace> copies_;
    Distributed<Shard> shards_;
};

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Records what the clients of a shared structure asked and were told, for check/main.go:
//
//     record_histories map|cached_map|exclusive|copies|value|cached|moving SEED [processes] [wrong]
//
// Four ranks, threads or processes, have a few clients each. The clients do random operations on a
// few keys. The first line of the output is the value that each key begins with, or "none". Each
// further one is an operation: client key name argument begin end result, times in nanoseconds.
// "wrong" takes a structure that is not linearizable: the checker must find that.
#include <corymb/distributed.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/replicated.hpp>
#include <corymb/replicated_value.hpp>
#include <corymb/shared_array.hpp>
#include <corymb/shared_map.hpp>
#include <corymb/this_task.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::histories {

struct MovingValue {
    long number;
    bool forgets; ///< When it moves.
};

} // namespace corymb::histories

template <>
struct corymb::RemoteCodec<corymb::histories::MovingValue> {
    using Value = corymb::histories::MovingValue;
    using Long = RemoteCodec<long>;
    static std::size_t size(const Value& /*value*/) { return 2 * sizeof(long); }
    static void write(RemoteWriter& to, const Value& value) {
        Long::write(to, value.forgets ? 0 : value.number);
        Long::write(to, value.forgets ? 1 : 0);
    }
    static Value read(RemoteReader& from) {
        const long number = Long::read(from);
        return {number, Long::read(from) != 0};
    }
};

namespace corymb::histories {
namespace {

constexpr int ranks = 4;
constexpr int clients_per_rank = 3;
constexpr int operations_per_client = 150;
constexpr unsigned keys = 6;

struct Operation {
    std::string_view name;
    unsigned key;
    long argument;
};

std::string text_of(const std::optional<long>& value) {
    return value ? std::to_string(*value) : "none";
}

/// A SharedMap. The wrong one remembers what a client has seen, and answers with that.
template <Placement placement>
class Map {
public:
    static constexpr std::string_view begins_with = "none";
    static constexpr std::array<std::string_view, 5> names{"get", "put", "insert", "erase", "add"};
    explicit Map(bool is_wrong) : is_wrong_(is_wrong) {}
    static Task<> open() { co_return; }

    Task<std::string> perform(Operation what) {
        if (what.name == "get") {
            if (const auto seen = seen_.find(what.key); is_wrong_ && seen != seen_.end()) {
                co_return text_of(seen->second);
            }
            const std::optional<long> value = co_await map_.get(what.key);
            seen_[what.key] = value;
            co_return text_of(value);
        }
        if (what.name == "add") {
            const long sum = co_await map_.update(
                what.key, [](long& value, long by) { return value += by; }, what.argument);
            co_return std::to_string(sum);
        }
        bool is_changed = false;
        if (what.name == "put") {
            is_changed = co_await map_.put(what.key, what.argument);
        } else if (what.name == "insert") {
            is_changed = co_await map_.insert(what.key, what.argument);
        } else {
            is_changed = co_await map_.erase(what.key);
        }
        co_return std::to_string(static_cast<int>(is_changed));
    }

private:
    SharedMap<unsigned, long> map_{"map", {placement}};
    std::unordered_map<unsigned, std::optional<long>> seen_;
    bool is_wrong_;
};

/// A value whose methods wait between reading and writing it.
template <bool excludes>
class Register {
public:
    static constexpr bool is_exclusive = excludes;
    Task<long> get() const {
        const long value = value_;
        co_await this_task::yield();
        co_return value;
    }
    Task<long> add(long by) {
        const long was = value_;
        co_await this_task::yield();
        value_ = was + by;
        co_return value_;
    }
    Task<long> exchange(long value) {
        const long was = value_;
        co_await this_task::yield();
        value_ = value;
        co_return was;
    }

private:
    long value_ = 0;
};

/// Exclusive methods of an object on each rank. The wrong ones do not exclude each other.
class Exclusive {
public:
    static constexpr std::string_view begins_with = "0";
    static constexpr std::array<std::string_view, 3> names{"get", "add", "exchange"};
    explicit Exclusive(bool is_wrong) : is_wrong_(is_wrong) {}
    static Task<> open() { co_return; }

    Task<std::string> perform(Operation what) {
        const Rank rank = static_cast<Rank>(what.key % ranks);
        const long result = is_wrong_ ? co_await perform(interleaved_.on(rank), what)
                                      : co_await perform(exclusive_.on(rank), what);
        co_return std::to_string(result);
    }

private:
    template <bool excludes>
    static Task<long> perform(Remote<Register<excludes>> on, Operation what) {
        using R = Register<excludes>;
        long result = 0;
        if (what.name == "get") {
            result = co_await on.template call<&R::get>();
        } else if (what.name == "add") {
            result = co_await on.template call<&R::add>(what.argument);
        } else {
            result = co_await on.template call<&R::exchange>(what.argument);
        }
        co_return result;
    }
    Distributed<Register<true>> exclusive_{"exclusive"};
    Distributed<Register<false>> interleaved_{"interleaved"};
    bool is_wrong_;
};

/// Objects that move from rank to rank meanwhile. The wrong ones leave what they have behind.
class Moving {
public:
    static constexpr std::string_view begins_with = "0";
    static constexpr std::array<std::string_view, 4> names{"get", "add", "exchange", "move"};
    explicit Moving(bool is_wrong) : is_wrong_(is_wrong) {}
    /// Rank 0 makes the objects, and tells the others.
    Task<> open() {
        if (here() == 0) {
            for (Remote<Value>& one : *objects_) {
                one = co_await create<Value>(0, Value{0, is_wrong_});
            }
        }
        RankBarrier made("made");
        co_await made.arrive();
        *objects_ = co_await objects_.on(0).call([](const Objects& all) { return all; });
        co_await made.arrive();
    }

    Task<std::string> perform(Operation what) {
        const Remote<Value> on = objects_->at(what.key % ranks);
        long result = 0;
        if (what.name == "move") {
            co_await on.migrate(static_cast<Rank>(what.argument % ranks));
        } else if (what.name == "get") {
            result = co_await on.call([](const Value& value) { return value.number; });
        } else if (what.name == "add") {
            result = co_await on.call([](Value& value, long by) { return value.number += by; },
                                      what.argument);
        } else {
            result = co_await on.call(
                [](Value& value, long to) { return std::exchange(value.number, to); },
                what.argument);
        }
        co_return std::to_string(result);
    }

private:
    using Value = MovingValue;
    using Objects = std::array<Remote<Value>, ranks>;
    Distributed<Objects> objects_{"objects"};
    bool is_wrong_;
};

/// A copy for each rank, of all keys. The wrong one remembers what it has read first.
template <ReplicatedMode mode>
class Copies {
public:
    static constexpr std::string_view begins_with = "0";
    static constexpr std::array<std::string_view, 3> names{"get", "add", "exchange"};
    explicit Copies(bool is_wrong) : is_wrong_(is_wrong) {}
    Task<> open() {
        typename Object::Options options;
        if constexpr (mode == ReplicatedMode::update) {
            options.replica_group = here();
        }
        values_.emplace(co_await Object::make("copies", {}, options));
    }

    Task<std::string> perform(Operation what) {
        long result = 0;
        if (what.name == "get") {
            result = co_await values_->read_latest(
                [key = what.key](const Values& all) { return all.at(key); });
            result = is_wrong_ ? seen_.try_emplace(what.key, result).first->second : result;
        } else {
            const auto change = [](Values& all, unsigned key, long argument, bool adds) {
                const long was = std::exchange(all.at(key), argument);
                return adds ? all.at(key) += was : was;
            };
            const bool adds = what.name == "add";
            result = co_await values_->update(change, what.key, what.argument, adds);
        }
        co_return std::to_string(result);
    }

private:
    using Values = std::array<long, ranks>;
    using Object = Replicated<Values, mode>;
    std::optional<Object> values_;
    std::unordered_map<unsigned, long> seen_;
    bool is_wrong_;
};

/// An array whose ranks keep copies of each other's elements, two in a block. The wrong one
/// remembers what it has read first.
class Cached {
public:
    static constexpr std::string_view begins_with = "0";
    static constexpr std::array<std::string_view, 3> names{"get", "add", "exchange"};
    explicit Cached(bool is_wrong) : is_wrong_(is_wrong) {}
    Task<> open() {
        SharedArrayOptions<long> options;
        options.placement = Placement::cached;
        options.by_calls = true;
        options.block_bytes = 2 * sizeof(long);
        options.mapping = ArrayMapping::tiled(2);
        values_.emplace(co_await SharedArray<long>::make("cached", ranks, options));
    }

    Task<std::string> perform(Operation what) {
        long result = 0;
        if (what.name == "get") {
            result = co_await values_->get(what.key);
            result = is_wrong_ ? seen_.try_emplace(what.key, result).first->second : result;
        } else if (what.name == "add") {
            result = what.argument + co_await values_->accumulate(what.key, what.argument);
        } else {
            const auto assign = [](long /*was*/, long value) {
                return value;
            };
            result = co_await values_->accumulate(what.key, what.argument, assign);
        }
        co_return std::to_string(result);
    }

private:
    std::optional<SharedArray<long>> values_;
    std::unordered_map<unsigned, long> seen_;
    bool is_wrong_;
};

long now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
}

/// Keys of a structure that has one for each rank, or of one that has any.
template <class Structure>
constexpr unsigned keys_of = Structure::begins_with == "none" ? keys : ranks;

/// What one client does. Its arguments are no other client's.
template <class Structure>
Task<> be_client(Structure& on, int client, unsigned seed, std::string& rows) {
    std::mt19937 random(seed * 1000 + static_cast<unsigned>(client));
    for (long number = 0; number < operations_per_client; ++number) {
        const Operation what{Structure::names[random() % Structure::names.size()],
                             static_cast<unsigned>(random() % keys_of<Structure>),
                             1'000'000L * (client + 1) + number};
        const long begin = now();
        const std::string result = co_await on.perform(what);
        const long end = now();
        rows += std::to_string(client) + ' ' + std::to_string(what.key) + ' ' +
                std::string(what.name) + ' ' + std::to_string(what.argument) + ' ' +
                std::to_string(begin) + ' ' + std::to_string(end) + ' ' + result + '\n';
        if (random() % 4 == 0) {
            co_await this_task::yield(); // Calls of the own rank end at once.
        }
    }
}

/// Rank 0 writes the rows of all.
template <class Structure>
Task<> be_rank(unsigned seed, bool is_wrong) {
    Structure on(is_wrong);
    co_await on.open();
    RankBarrier barrier("end");
    std::string rows;
    co_await barrier.arrive();
    co_await finish([&]() -> Task<> {
        for (int client = 0; client < clients_per_rank; ++client) {
            spawn(be_client(on, here() * clients_per_rank + client, seed, rows));
        }
        co_return;
    });
    co_await barrier.arrive();
    co_await at(0, [](const std::string& some) { std::fputs(some.c_str(), stdout); }, rows);
    co_await barrier.arrive();
}

Task<> rank_of(std::string_view structure, unsigned seed, bool is_wrong) {
    return structure == "map"          ? be_rank<Map<Placement::owned>>(seed, is_wrong)
           : structure == "cached_map" ? be_rank<Map<Placement::cached>>(seed, is_wrong)
           : structure == "copies"     ? be_rank<Copies<ReplicatedMode::update>>(seed, is_wrong)
           : structure == "value"      ? be_rank<Copies<ReplicatedMode::invalidate>>(seed, is_wrong)
           : structure == "cached"     ? be_rank<Cached>(seed, is_wrong)
           : structure == "moving"     ? be_rank<Moving>(seed, is_wrong)
                                       : be_rank<Exclusive>(seed, is_wrong);
}

template <class Main>
void in_threads(const Main& main) {
    RemoteGroup group(ranks);
    std::vector<std::jthread> threads;
    for (Rank rank = 0; rank < ranks; ++rank) {
        threads.emplace_back([&group, &main, rank] {
            RemoteRank own = group.join(rank);
            own.run(main());
        });
    }
}

template <class Main>
void in_processes(const Main& main) {
    RemoteOptions options;
    options.between_processes = true;
    RemoteGroup group(ranks, options);
    const int descriptor = group.make_descriptor();
    for (Rank rank = 1; rank < ranks; ++rank) {
        if (::fork() == 0) {
            {
                RemoteRank own = RemoteGroup::open(descriptor).join(rank);
                own.run(main());
            }
            ::_exit(0);
        }
    }
    {
        RemoteRank own = group.join(0);
        own.run(main());
    }
    while (::wait(nullptr) > 0) {
    }
}

int record(const std::vector<std::string_view>& arguments) {
    const auto is_said = [&arguments](std::string_view word) {
        return std::ranges::find(arguments, word) != arguments.end();
    };
    static constexpr std::array structures{"map",   "cached_map", "exclusive", "copies",
                                           "value", "cached",     "moving"};
    if (arguments.size() < 2 || std::ranges::find(structures, arguments[0]) == structures.end()) {
        std::fputs(
            "usage: record_histories map|cached_map|exclusive|copies|value|cached|moving SEED "
            "[processes] [wrong]\n",
            stderr);
        return 2;
    }
    const std::string_view structure = arguments[0];
    const auto seed = static_cast<unsigned>(std::stoul(std::string(arguments[1])));
    std::puts(structure.ends_with("map") ? "none" : "0"); // What keys begin with.
    std::fflush(stdout);                                  // Children have none of it.
    const auto main = [structure, seed, is_wrong = is_said("wrong")] {
        return rank_of(structure, seed, is_wrong);
    };
    is_said("processes") ? in_processes(main) : in_threads(main);
    return 0;
}

} // namespace
} // namespace corymb::histories

int main(int count, char** words) try {
    return corymb::histories::record({words + 1, words + count});
} catch (const std::exception& error) {
    std::fprintf(stderr, "record_histories: %s\n", error.what());
    return 1;
}

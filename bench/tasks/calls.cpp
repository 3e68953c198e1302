// SPDX-License-Identifier: Apache-2.0
// Rank 0 calls rank 1. Between two rounds of calls the same threads pass a word to and fro over two
// plain lines, for which rank 1 serves a call that lasts as long.
#include "../threads/case.hpp"
#include "row.hpp"

#include <corymb/remote.hpp>
#include <corymb/remote_object.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace corymb::bench {
namespace {

constexpr int rounds = 11;
constexpr int trips = 20'000;
constexpr int stream = 200'000;

struct alignas(128) Line {
    std::atomic<std::uint64_t> word{0};
};
std::array<Line, 2> lines;

/// The next `trips` words, each after the other side's.
void pass_words(std::size_t own, std::uint64_t first) {
    for (std::uint64_t word = first; word < first + trips; ++word) {
        if (own == 0) {
            lines[0].word.store(word, std::memory_order_release);
        }
        while (lines.at(1 - own).word.load(std::memory_order_acquire) != word) {
        }
        if (own == 1) {
            lines[1].word.store(word, std::memory_order_release);
        }
    }
}

struct Bytes64 {
    std::array<char, 64> bytes;
};

class Counter {
public:
    long add(long by) { return count_ += by; }

private:
    long count_ = 0;
};

class ExclusiveCounter : public Counter {
public:
    static constexpr bool is_exclusive = true;
};

struct Times {
    std::vector<double> lines, call, call64, method, task, own, own_method, exclusive, post, tell;
};

template <class Call>
Task<> time_calls(std::vector<double>& into, Call call) {
    const auto begin = Clock::now();
    for (int i = 0; i < trips; ++i) {
        co_await call();
    }
    into.push_back(ns_since(begin) / trips);
}

Task<> one_round(Times& times, std::uint64_t first_word, Remote<Counter> counter,
                 Remote<Counter> own) {
    co_await post(1, [](std::uint64_t word) { pass_words(1, word); }, first_word);
    const auto begin = Clock::now();
    pass_words(0, first_word);
    times.lines.push_back(ns_since(begin) / trips);
    co_await time_calls(times.call, [] { return at(1, [] {}); });
    co_await time_calls(times.call64,
                        [] { return at(1, [](const Bytes64& all) { return all; }, Bytes64{}); });
    co_await time_calls(times.method, [counter] { return counter.call<&Counter::add>(1L); });
    co_await time_calls(times.task, [] { return at(1, []() -> Task<> { co_return; }); });
    co_await time_calls(times.own, [] { return at(0, [] {}); });
    const Remote<ExclusiveCounter> exclusive = co_await create<ExclusiveCounter>(0);
    co_await time_calls(times.exclusive,
                        [exclusive] { return exclusive.call<&ExclusiveCounter::add>(1L); });
    co_await exclusive.destroy();
    co_await time_calls(times.own_method, [own] { return own.call<&Counter::add>(1L); });
    auto streamed = Clock::now();
    for (int i = 0; i < stream; ++i) {
        co_await post(1, [](int) {}, i);
    }
    co_await at(1, [] {}); // Behind all of them.
    times.post.push_back(ns_since(streamed) / stream);
    streamed = Clock::now();
    co_await finish([]() -> Task<> {
        for (int i = 0; i < stream; ++i) {
            co_await tell(1, [](int) {}, i);
        }
    });
    times.tell.push_back(ns_since(streamed) / stream);
}

Task<> lead(Times& times) {
    const Remote<Counter> counter = co_await create<Counter>(1);
    const Remote<Counter> own = co_await create<Counter>(0);
    for (int round = 0; round < rounds; ++round) {
        co_await one_round(times, 1 + static_cast<std::uint64_t>(round) * trips, counter, own);
    }
}

} // namespace

std::vector<Row> calls() {
    RemoteGroup group(2, {.message_bytes = 120});
    Times times;
    const std::vector<int> cpus = placement(2);
    std::jthread other([&group, &cpus] {
        bind_this_thread(cpus[1]);
        group.join(1).run([]() -> Task<> {
            co_return;
        }());
    });
    std::jthread caller([&group, &times, &cpus] {
        bind_this_thread(cpus[0]);
        group.join(0).run(lead(times));
    });
    caller.join();
    return {{"lines", 2, quartiles(times.lines)},
            {"call", 2, quartiles(times.call)},
            {"call64", 2, quartiles(times.call64)},
            {"method", 2, quartiles(times.method)},
            {"task", 2, quartiles(times.task)},
            {"own", 1, quartiles(times.own)},
            {"own_method", 1, quartiles(times.own_method)},
            {"exclusive", 1, quartiles(times.exclusive)},
            {"post", 2, quartiles(times.post)},
            {"tell", 2, quartiles(times.tell)}};
}

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Latency of an acknowledged multicast over the size of the group: corymb's topologies and plain
// ways, in turns. One JSON object a line; bench/README.md says how to read them.
#include "../engine/turns.hpp"
#include "../threads/arguments.hpp"
#include "../threads/statistics.hpp"
#include "rival.hpp"

#include <corymb/usable_cpus.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace corymb::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t rounds = 9;
constexpr int calls_max = 400, warm_up_calls = 5;

/// `members` of the ranks 1 to threads - 1, spread over them.
MulticastCase case_of(Regime regime, int threads, int members) {
    MulticastCase what{regime, threads, {}};
    for (int i = 0; i < members; ++i) {
        what.members.push_back(1 + i * (threads - 1) / members);
    }
    return what;
}

/// Threads that are no members, until the turn is over.
class Idle {
public:
    void wait() {
        std::unique_lock lock(mutex_);
        over_.wait(lock, [this] { return is_over_; });
    }
    void end() {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        over_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable over_;
    bool is_over_ = false;
};

/// Nanoseconds of a turn's first call, and the median of those after the warm-up.
struct CallTimes {
    double first = 0, later = 0;
};

/// Calls for so long. Ends the process when a member has not run what it should.
CallTimes time_calls(Rival& rival, const MulticastCase& what, Clock::duration budget) {
    std::vector<double> times;
    double first = 0;
    const auto end = Clock::now() + budget;
    std::uint64_t value = 0;
    for (int call = 0; call < calls_max; ++call) {
        const auto begin = Clock::now();
        if (call > warm_up_calls && begin >= end) {
            break;
        }
        rival.call(++value);
        const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
        if (call == 0) {
            first = time.count();
        }
        if (call >= warm_up_calls) {
            times.push_back(time.count());
        }
        for (const int rank : what.members) {
            if (!rival.has_noted(rank, value)) {
                std::fprintf(stderr, "a call was complete before rank %d had run it\n", rank);
                std::exit(1);
            }
        }
    }
    return {first, quartiles(times).median};
}

CallTimes turn(const Contestant& contestant, const MulticastCase& what, Clock::duration budget) {
    const std::unique_ptr<Rival> rival = contestant.make(what);
    const bool gives_way = static_cast<int>(what.members.size()) + 1 > usable_cpus().count();
    std::atomic<int> ready{0};
    std::atomic<bool> stop{false};
    Idle idle;
    const auto live = [&](int rank) {
        if (!std::binary_search(what.members.begin(), what.members.end(), rank)) {
            ready.fetch_add(1, std::memory_order_release);
            idle.wait();
            return;
        }
        rival->enter(rank);
        ready.fetch_add(1, std::memory_order_release);
        while (!stop.load(std::memory_order_relaxed)) {
            rival->look(rank);
            if (gives_way && what.regime == Regime::polling) {
                std::this_thread::yield();
            }
        }
        rival->leave(rank);
    };
    CallTimes result;
    {
        std::vector<std::jthread> threads;
        for (int rank = 1; rank < what.threads; ++rank) {
            threads.emplace_back(live, rank);
        }
        while (ready.load(std::memory_order_acquire) < what.threads - 1) {
            std::this_thread::yield();
        }
        result = time_calls(*rival, what, budget);
        stop.store(true, std::memory_order_relaxed);
        rival->stop();
        idle.end();
    }
    return result;
}

struct Options {
    std::vector<int> threads{2, 4, 8, 16, 32};
    double seconds = 40;
};

Options options_from(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        const std::string value = i + 1 < argc ? argv[i + 1] : "";
        if (name == "--seconds") {
            options.seconds = number(value, 0.1, 86400.0, name);
        } else if (name == "--threads") {
            options.threads = numbers(value, 2, 1024, name);
        } else {
            throw UsageError("unknown option " + name + "; there are --threads and --seconds");
        }
    }
    return options;
}

std::vector<MulticastCase> cases_of(const Options& options) {
    std::vector<MulticastCase> cases;
    for (const Regime regime : {Regime::polling, Regime::asleep}) {
        for (const int threads : options.threads) {
            int last = 0;
            for (const int members : {1, threads / 4, threads / 2, threads - 1}) {
                if (members > last) {
                    cases.push_back(case_of(regime, threads, members));
                    last = members;
                }
            }
        }
    }
    return cases;
}

void print(const Contestant& who, const MulticastCase& what, const std::vector<double>& times,
           const std::vector<double>& first) {
    const Quartiles found = quartiles(times);
    std::printf("{\"type\":\"row\",\"op\":\"multicast\",\"regime\":\"%s\",\"ranks\":%d,"
                "\"members\":%zu,\"contestant\":\"%s\",\"family\":\"%s\",\"median_ns\":%.1f,"
                "\"q25\":%.1f,\"q75\":%.1f,\"first_ns\":%.1f,\"cpus\":%d}\n",
                what.regime == Regime::polling ? "polling" : "asleep", what.threads,
                what.members.size(), who.name.c_str(), who.is_corymb ? "corymb" : "peer",
                found.median, found.q25, found.q75, quartiles(first).median, usable_cpus().count());
    std::fflush(stdout);
}

/// Whether anything but corymb was timed.
bool measure(const Options& options) {
    bool has_peers = false;
    const std::vector<MulticastCase> cases = cases_of(options);
    const std::size_t all = multicast_contestants().size();
    const std::chrono::duration<double> each(options.seconds /
                                             static_cast<double>(cases.size() * all * rounds));
    const auto budget = std::chrono::duration_cast<Clock::duration>(each);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const MulticastCase& what = cases[i];
        std::vector<Contestant> contestants = multicast_contestants();
        std::erase_if(contestants, [&](const auto& who) { return !who.takes_part(what); });
        std::vector<std::vector<double>> first(contestants.size());
        const auto times = times_in_turns(contestants.size(), rounds, [&](std::size_t who) {
            const CallTimes found = turn(contestants[who], what, budget);
            first[who].push_back(found.first);
            return found.later;
        });
        for (std::size_t who = 0; who < contestants.size(); ++who) {
            print(contestants[who], what, times[who], first[who]);
            has_peers = has_peers || !contestants[who].is_corymb;
        }
        std::fprintf(stderr, "progress %.3f %d threads, %zu members\n",
                     static_cast<double>(i + 1) / static_cast<double>(cases.size()), what.threads,
                     what.members.size());
    }
    return has_peers;
}

} // namespace
} // namespace corymb::bench

int main(int argc, char** argv) {
    try {
        if (!corymb::bench::measure(corymb::bench::options_from(argc, argv))) {
            std::fprintf(stderr, "corymb-bench-multicast: no peer could be measured\n");
            return 1;
        }
    } catch (const corymb::bench::UsageError& error) {
        std::fprintf(stderr, "corymb-bench-multicast: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "corymb-bench-multicast: %s\n", error.what());
        return 1;
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// P1: release store of `ready` by the thread that makes the rings -> acquire load by every
// thread that uses it: publishes the rings. The channels are argued in channel/.
#include "machine/discover/group_probe.hpp"

#include "base/clock.hpp"
#include "channel/channels.hpp"
#include "machine/discover/line.hpp"
#include "machine/discover/statistics.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace corymb::discover {
namespace {

constexpr int rounds = 64;
constexpr double gap_ns = 10'000;  ///< A longer round was interrupted.
constexpr double settle_ns = 2000; ///< Longer than any transfer: for events out of the way.

using ExchangeLine = channel::PairLine<channel::StandardEnv>;
using LinePublication = channel::OwnedLinePublication<channel::StandardEnv>;

double uninterrupted(std::vector<double> values) {
    std::erase_if(values, [](double value) { return value > gap_ns; });
    // With most rounds interrupted, what remains is a chance selection.
    return values.size() * 4 >= rounds ? midmean(std::move(values)) : Statistic::missing;
}

/// The rings between CPU 0 of a run and the others, and how its threads wait.
class Stage {
public:
    Stage(Crew& crew, const TickScale& scale, std::size_t lanes, std::size_t readers)
        : crew_(&crew), scale_(&scale), lanes_(lanes), readers_(readers) {}

    using Body = std::function<void(int, BoundedWaiter&)>;

    /// Thread 0 makes the rings, so that their pages are near it; the others wait for them.
    void run(int from, std::span<const int> others, const Body& body) {
        std::vector<int> cpus{from};
        cpus.insert(cpus.end(), others.begin(), others.end());
        crew_->run(cpus, [&](int thread) {
            BoundedWaiter waiter(crew_->stop(), limit_ns - (now_ns() - begin_ns_));
            if (thread == 0) {
                duplex_ = std::make_unique<Duplex[]>(lanes_);
                publication_ = std::make_unique<LinePublication>(readers_);
                exchange_ = std::make_unique<ExchangeLine>();
                ready_.store(true, std::memory_order_release); // P1 release
            }
            bool seen = false;
            constexpr auto order = std::memory_order_acquire; // P1 acquire: publishes the rings
            if (waiter.await(ready_, order, [](bool value) { return value; }, seen)) {
                body(thread, waiter);
            }
        });
    }

    [[nodiscard]] LineEnd near_end(std::size_t lane) {
        return {duplex_[lane].there, duplex_[lane].back};
    }
    [[nodiscard]] LineEnd far_end(std::size_t lane) {
        return {duplex_[lane].back, duplex_[lane].there};
    }
    [[nodiscard]] std::vector<LineEnd> near_ends() {
        std::vector<LineEnd> ends;
        for (std::size_t lane = 0; lane < lanes_; ++lane) {
            ends.push_back(near_end(lane));
        }
        return ends;
    }
    ExchangeLine& exchange_line() { return *exchange_; }
    LinePublication& publication() { return *publication_; }
    [[nodiscard]] double ns(Ticks from) const { return scale_->ns(from, ticks()); }
    [[nodiscard]] Ticks ticks_of(double time_ns) const {
        return static_cast<Ticks>(time_ns / scale_->ns_per_tick);
    }
    void settle() const {
        const Ticks begin = ticks();
        auto is_settled = [&]() noexcept {
            return ticks() - begin >= ticks_of(settle_ns);
        };
        while (!channel::look_for_a_while(is_settled, 1)) {
        }
    }

private:
    Crew* crew_;
    const TickScale* scale_;
    std::size_t lanes_;
    std::size_t readers_;
    static constexpr std::int64_t limit_ns = 100'000'000; ///< All runs end by then.
    std::int64_t begin_ns_ = now_ns();
    std::unique_ptr<Duplex[]> duplex_;
    std::unique_ptr<LinePublication> publication_;
    std::unique_ptr<ExchangeLine> exchange_;
    std::atomic<bool> ready_{false};
};

bool all(std::vector<LineEnd>& ends, const std::function<bool(LineEnd&)>& act) {
    return std::all_of(ends.begin(), ends.end(), act);
}

} // namespace

BurstTimes GroupProbe::burst_to_one(int from, int to, int count) {
    Stage stage(*crew_, scale_, 1, 0);
    std::vector<double> busy;
    std::vector<double> answered;
    stage.run(from, std::span(&to, 1), [&](int thread, BoundedWaiter& waiter) {
        LineEnd end = thread == 0 ? stage.near_end(0) : stage.far_end(0);
        for (int round = 0; round < rounds; ++round) {
            const Ticks begin = ticks();
            for (int message = 0; message < count; ++message) {
                if (thread == 0 ? !end.send(waiter, 0) : !end.receive(waiter)) {
                    return;
                }
            }
            const double sent = stage.ns(begin);
            if (thread == 0 ? !end.receive(waiter) : !end.send(waiter, 0)) {
                return;
            }
            if (thread == 0) {
                busy.push_back(sent);
                answered.push_back(stage.ns(begin));
            }
        }
    });
    return {uninterrupted(busy), uninterrupted(answered)};
}

BurstTimes GroupProbe::burst_to_each(int from, std::span<const int> to) {
    Stage stage(*crew_, scale_, to.size(), 0);
    std::vector<double> busy;
    std::vector<double> answered;
    stage.run(from, to, [&](int thread, BoundedWaiter& waiter) {
        if (thread > 0) {
            const bool last = static_cast<std::size_t>(thread) == to.size();
            LineEnd end = stage.far_end(static_cast<std::size_t>(thread - 1));
            for (int round = 0; round < rounds && end.receive(waiter); ++round) {
                if (!last) {
                    stage.settle();
                }
                if (!end.send(waiter, 0)) {
                    return;
                }
            }
            return;
        }
        std::vector<LineEnd> ends = stage.near_ends();
        for (int round = 0; round < rounds; ++round) {
            const Ticks begin = ticks();
            if (!all(ends, [&](LineEnd& end) { return end.send(waiter, 0); })) {
                return;
            }
            const double sent = stage.ns(begin);
            if (!ends.back().receive(waiter)) {
                return;
            }
            busy.push_back(sent);
            answered.push_back(stage.ns(begin));
            for (std::size_t lane = 0; lane + 1 < ends.size(); ++lane) {
                if (!ends[lane].receive(waiter)) {
                    return;
                }
            }
        }
    });
    return {uninterrupted(busy), uninterrupted(answered)};
}

double GroupProbe::pending_receives(int at, std::span<const int> from, int count) {
    const auto lanes = static_cast<std::size_t>(count);
    Stage stage(*crew_, scale_, lanes, 0);
    std::vector<double> times;
    stage.run(at, from, [&](int thread, BoundedWaiter& waiter) {
        if (thread > 0) {
            std::vector<LineEnd> own;
            for (auto lane = static_cast<std::size_t>(thread - 1); lane < lanes;
                 lane += from.size()) {
                own.push_back(stage.far_end(lane));
            }
            for (int round = 0; round < rounds; ++round) {
                if (!all(own, [&](LineEnd& end) { return end.receive(waiter); }) ||
                    !all(own, [&](LineEnd& end) { return end.send(waiter, 0); })) {
                    return;
                }
            }
            return;
        }
        std::vector<LineEnd> ends = stage.near_ends();
        for (int round = 0; round < rounds; ++round) {
            if (!all(ends, [&](LineEnd& end) { return end.send(waiter, 0); })) {
                return;
            }
            stage.settle(); // Then all are there. If not, the round was interrupted and is long.
            const Ticks begin = ticks();
            if (!all(ends, [&](LineEnd& end) { return end.receive(waiter); })) {
                return;
            }
            times.push_back(stage.ns(begin));
        }
    });
    return uninterrupted(times);
}

double GroupProbe::shared_line(int from, std::span<const int> readers) {
    Stage stage(*crew_, scale_, readers.size(), readers.size());
    std::vector<std::vector<double>> trips(readers.size());  // A message each, to the reader.
    std::vector<std::vector<double>> shared(readers.size()); // The publication to all.
    const int total = rounds * static_cast<int>(readers.size());
    stage.run(from, readers, [&](int thread, BoundedWaiter& waiter) {
        if (thread > 0) {
            const int self = thread - 1;
            LineEnd end = stage.far_end(static_cast<std::size_t>(self));
            std::uint64_t consumed = 0;
            for (int round = 0; round < total; ++round) {
                if (!end.receive(waiter) || !end.send(waiter, 0) ||
                    stage.publication().read(waiter, 8, consumed) == nullptr) {
                    return;
                }
                stage.publication().release(static_cast<std::size_t>(self), consumed);
                if (round % static_cast<int>(readers.size()) != self) {
                    stage.settle(); // The answers must not meet the one that is timed.
                }
                if (!end.send(waiter, 0)) {
                    return;
                }
            }
            return;
        }
        std::vector<LineEnd> ends = stage.near_ends();
        std::uint64_t published = 0;
        const std::uint64_t payload = 0;
        for (int round = 0; round < total; ++round) {
            const auto timed = static_cast<std::size_t>(round) % readers.size();
            for (std::size_t lane = 0; lane < ends.size(); ++lane) {
                const Ticks begin = ticks();
                if (!ends[lane].send(waiter, 0) || !ends[lane].receive(waiter)) {
                    return;
                }
                trips[lane].push_back(stage.ns(begin));
            }
            stage.settle();
            const Ticks begin = ticks();
            if (!stage.publication().publish(waiter, &payload, sizeof payload, published) ||
                !ends[timed].receive(waiter)) {
                return;
            }
            shared[timed].push_back(stage.ns(begin));
            for (std::size_t lane = 0; lane < ends.size(); ++lane) {
                if (lane != timed && !ends[lane].receive(waiter)) {
                    return;
                }
            }
        }
    });
    double last = 0;
    for (std::size_t reader = 0; reader < readers.size(); ++reader) {
        const double there = uninterrupted(shared[reader]) - uninterrupted(trips[reader]) / 2;
        last = there > last || !(there == there) ? there : last;
    }
    return last;
}

double GroupProbe::meeting(int one, int other) {
    constexpr int meetings = 64; // In a timed round; rounds are short against an interruption.
    Stage stage(*crew_, scale_, 1, 0);
    std::vector<double> times;
    stage.run(one, std::span(&other, 1), [&](int thread, BoundedWaiter& waiter) {
        channel::ExchangeEnd<channel::StandardEnv, 8> end(stage.exchange_line(),
                                                          static_cast<std::size_t>(thread));
        std::uint64_t value = 0;
        for (int round = 0; round < rounds; ++round) {
            const Ticks begin = ticks();
            for (int meeting = 0; meeting < meetings; ++meeting) {
                end.put(&value, sizeof value);
                const std::byte* payload = end.take(waiter, sizeof value);
                if (payload == nullptr) {
                    return;
                }
                std::memcpy(&value, payload, sizeof value);
            }
            if (thread == 0) {
                times.push_back(stage.ns(begin) / meetings);
            }
        }
    });
    return uninterrupted(times);
}

} // namespace corymb::discover

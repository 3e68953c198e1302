// SPDX-License-Identifier: Apache-2.0
// P1: release store of `ready` by the thread that makes the session -> acquire load by every
// thread that uses it: publishes the session. The channels are argued in channel/.
#include "machine/discover/line_probe.hpp"

#include "base/clock.hpp"
#include "machine/discover/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace corymb::discover {
namespace {

constexpr int lanes = 8;                  ///< Different lines to which a thread sends in a row.
constexpr int rounds = 32;                ///< Of each kind in a batch: about 200 us in all.
constexpr int bare_trips = 128;           ///< Of the ping-pong that is timed as a whole.
constexpr int window_trips = 512;         ///< Of a window when warming up.
constexpr double first_warm_up_ns = 20e6; ///< Frequency governors look every 10 ms or so.
constexpr double warm_up_more_ns = 2e6;   ///< How long to wait for two equal windows.
constexpr double gap_ns = 10'000;         ///< An interruption; no transfer takes so long.

/// What one thread notes down in a batch.
struct alignas(line_pair_bytes) Notes {   // Each is written by one thread.
    std::array<double, rounds> single{};  ///< Round trip of one message, by the initiator.
    std::array<double, rounds> several{}; ///< Until the last of `lanes` messages is answered.
    std::array<double, rounds> busy{};    ///< Of the thread that sends these.
    std::array<double, rounds> visible{}; ///< Reading a message that is there, by the receiver.
    double bare = 0;                      ///< The ping-pong, per round trip.
};

double middle(const std::array<double, rounds>& values) {
    return midmean({values.begin(), values.end()});
}

bool has_gap(const std::array<double, rounds>& values) {
    return *std::max_element(values.begin(), values.end()) > std::max(gap_ns, 20 * middle(values));
}

} // namespace

/// The rings of a pair, and the work of its two threads. Each function is called by both, with the
/// same arguments but `side`; false: a wait was given up.
struct LineProbe::Session {
    std::array<Duplex, lanes> duplex;
    std::array<std::array<LineEnd, lanes>, 2> ends;
    const TickScale* scale = nullptr;

    using End = std::array<LineEnd, lanes>;

    void reset(const TickScale& tick_scale) {
        scale = &tick_scale;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            std::destroy_at(&duplex[lane]);
            std::construct_at(&duplex[lane]);
            ends[0][lane] = LineEnd(duplex[lane].there, duplex[lane].back);
            ends[1][lane] = LineEnd(duplex[lane].back, duplex[lane].there);
        }
    }

    /// One message there and one back.
    static bool trip(LineEnd& end, bool initiator, std::uint64_t value, BoundedWaiter& waiter) {
        return initiator ? end.send(waiter, value) && end.receive(waiter)
                         : end.receive(waiter) && end.send(waiter, value);
    }

    bool bare(End& end, bool initiator, BoundedWaiter& waiter, int trips, double& mean) const {
        const Ticks begin = ticks();
        for (int i = 0; i < trips; ++i) {
            if (!trip(end[0], initiator, 0, waiter)) {
                return false;
            }
        }
        mean = scale->ns(begin, ticks()) / trips;
        return true;
    }

    /// Ping-pong for a while, then until two windows in a row agree, so that both cores have
    /// reached their speed. The initiator decides and tells the other in the next message.
    bool warm_up(End& end, bool initiator, double at_least_ns, BoundedWaiter& waiter) const {
        const Ticks begin = ticks();
        double before = 0;
        for (;;) {
            double now = 0;
            if (!bare(end, initiator, waiter, window_trips, now)) {
                return false;
            }
            const double spent = scale->ns(begin, ticks());
            const bool stable = std::abs(now - before) <= 0.02 * now && spent >= at_least_ns;
            std::uint64_t done = stable || spent > at_least_ns + warm_up_more_ns ? 1 : 0;
            if (initiator ? !end[0].send(waiter, done) : !end[0].receive(waiter, done)) {
                return false;
            }
            if (done != 0) {
                return true;
            }
            before = now;
        }
    }

    bool single_round(End& end, bool initiator, BoundedWaiter& waiter, double& time) const {
        const Ticks begin = ticks();
        if (!trip(end[0], initiator, 0, waiter)) {
            return false;
        }
        time = scale->ns(begin, ticks());
        return true;
    }

    /// The responder looks at the last lane only, answers, and then takes the other messages: so
    /// the initiator's time does not contain the receives of these.
    bool several_round(End& end, bool initiator, BoundedWaiter& waiter, double& time,
                       double& busy) const {
        LineEnd& last = end[lanes - 1];
        if (initiator) {
            const Ticks begin = ticks();
            for (LineEnd& lane : end) {
                if (!lane.send(waiter, 0)) {
                    return false;
                }
            }
            const Ticks sent = ticks();
            if (!last.receive(waiter)) {
                return false;
            }
            time = scale->ns(begin, ticks());
            busy = scale->ns(begin, sent) / lanes;
        } else if (!trip(last, false, 0, waiter)) {
            return false;
        }
        for (std::size_t lane = 0; lane + 1 < lanes; ++lane) {
            const bool done =
                initiator ? end[lane].receive(waiter) : trip(end[lane], false, 0, waiter);
            if (!done) {
                return false;
            }
        }
        return true;
    }

    /// Sends of one thread become visible in their order: when lane 1 has its message, that of lane
    /// 0 is there too, and was not looked at before.
    bool visible_round(End& end, bool initiator, BoundedWaiter& waiter, double& time) const {
        if (initiator) {
            return end[0].send(waiter, 0) && end[1].send(waiter, 0) && end[0].receive(waiter) &&
                   end[1].receive(waiter);
        }
        if (!end[1].receive(waiter)) {
            return false;
        }
        const Ticks begin = ticks();
        if (!end[0].receive(waiter)) {
            return false;
        }
        time = scale->ns(begin, ticks());
        return end[0].send(waiter, 0) && end[1].send(waiter, 0);
    }

    /// All kinds of rounds in one direction.
    bool direction(End& end, bool initiator, BoundedWaiter& waiter, Notes& notes) const {
        for (std::size_t round = 0; round < rounds; ++round) {
            if (!single_round(end, initiator, waiter, notes.single[round]) ||
                !several_round(end, initiator, waiter, notes.several[round], notes.busy[round]) ||
                !visible_round(end, initiator, waiter, notes.visible[round])) {
                return false;
            }
        }
        return bare(end, initiator, waiter, bare_trips, notes.bare);
    }
};

namespace {

/// From the notes of both directions, each by initiator and receiver, to costs.
PairBatch costs(const std::array<std::array<Notes, 2>, 2>& notes) {
    PairBatch batch;
    std::array<double, 2> visible{};
    double round_trip = 0;
    for (std::size_t from = 0; from < 2; ++from) {
        const Notes& sender = notes[from][from];
        const Notes& receiver = notes[from][1 - from];
        const double single = middle(sender.single);
        const double slope = (middle(sender.several) - single) / (lanes - 1);
        batch.send[from] = std::max(middle(sender.busy), slope);
        visible[from] = std::max(1.0, middle(receiver.visible));
        batch.round_trip += sender.bare / 2;
        round_trip += single / 2;
        batch.dropped = batch.dropped || has_gap(sender.single) || has_gap(sender.several) ||
                        has_gap(receiver.visible) ||
                        (sender.bare - 2 * single) * bare_trips > gap_ns;
    }
    // Sends that last as long as the trip itself leave nothing for the receives; then the store
    // buffer was the bottleneck, and at least a fifth of the trip is counted as receiving.
    const double sends = batch.send[0] + batch.send[1];
    const double sends_max = 0.8 * round_trip;
    if (sends > sends_max) {
        batch.send[0] *= sends_max / sends;
        batch.send[1] *= sends_max / sends;
    }
    const double receives = round_trip - batch.send[0] - batch.send[1];
    // Each direction has the read that was timed there; the way of the stores cannot be told apart.
    const double ways = receives - visible[0] - visible[1];
    const double first =
        ways > 0 ? visible[0] + ways / 2 : receives * visible[0] / (visible[0] + visible[1]);
    const double share = std::clamp(first / receives, 0.25, 0.75);
    batch.receive = {receives * share, receives * (1 - share)};
    return batch;
}

} // namespace

LineProbe::LineProbe(Crew& crew, std::vector<Place> places, const TickScale& scale)
    : crew_(&crew), places_(std::move(places)), scale_(scale), begin_ns_(now_ns()) {}

LineProbe::~LineProbe() = default;

double LineProbe::elapsed_s() const {
    return static_cast<double>(now_ns() - begin_ns_) * 1e-9;
}

std::vector<PairBatch> LineProbe::batches(int first, int second, int count) {
    const Place& here = places_[static_cast<std::size_t>(first)];
    const Place& there = places_[static_cast<std::size_t>(second)];
    std::unique_ptr<Session>& session = sessions_[there.numa];
    std::vector<PairBatch> result(static_cast<std::size_t>(count), PairBatch{.dropped = true});
    // Filled by both threads, each its own entries: notes[batch][direction][side].
    std::vector<std::array<std::array<Notes, 2>, 2>> notes(result.size());
    std::vector<std::array<bool, 2>> complete(result.size());
    std::atomic<bool> ready{false};
    const double warm_up_ns = warm_ || session_limit_ns_ > 0 ? 0 : first_warm_up_ns;
    const double limit_ns = session_limit_ns_ > 0 ? session_limit_ns_ : 100e6 + 20e6 * count;

    const std::array<int, 2> cpus = {here.cpu, there.cpu};
    crew_->run(cpus, [&](int side) {
        BoundedWaiter waiter(crew_->stop(), static_cast<std::int64_t>(limit_ns));
        if (side == 1) { // The first touch by the receiver decides where the pages are.
            if (!session) {
                session = std::make_unique<Session>();
            }
            session->reset(scale_);
            ready.store(true, std::memory_order_release); // P1 release
        }
        bool seen = false;
        constexpr auto order = std::memory_order_acquire; // P1 acquire: publishes the session
        if (!waiter.await(ready, order, [](bool value) { return value; }, seen)) {
            return;
        }
        const auto own = static_cast<std::size_t>(side);
        Session::End& end = session->ends[own];
        if (!session->warm_up(end, side == 0, warm_up_ns, waiter)) {
            return;
        }
        for (std::size_t batch = 0; batch < notes.size(); ++batch) {
            for (std::size_t from = 0; from < 2; ++from) {
                if (!session->direction(end, own == from, waiter, notes[batch][from][own])) {
                    return;
                }
            }
            complete[batch][own] = true;
        }
    });
    warm_ = true;
    for (std::size_t batch = 0; batch < result.size(); ++batch) {
        if (complete[batch][0] && complete[batch][1]) {
            result[batch] = costs(notes[batch]);
        }
    }
    return result;
}

} // namespace corymb::discover

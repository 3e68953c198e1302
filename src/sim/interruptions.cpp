// SPDX-License-Identifier: Apache-2.0
#include "sim/interruptions.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace corymb::sim {

namespace {

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t replay, std::size_t rank) {
    return Random(Random(Random(seed).next() ^ replay).next() ^ rank).next();
}

/// Exponential with mean 1, out of comparisons alone, so that it is the same with every library of
/// mathematical functions (von Neumann, Various techniques used in connection with random digits,
/// 1951).
double exponential(Random& random) {
    for (double whole = 0;; ++whole) {
        const double first = random.unit();
        bool is_odd = true; // Length of the run of falling numbers.
        for (double last = first, one = random.unit(); one < last; one = random.unit()) {
            last = one;
            is_odd = !is_odd;
        }
        if (is_odd) {
            return whole + first;
        }
    }
}

double length_of(const RandomNoise& noise, Random& random) {
    switch (noise.lengths) {
    case NoiseLengths::constant: return noise.length_ns;
    case NoiseLengths::uniform: return 2 * noise.length_ns * random.unit();
    case NoiseLengths::exponential: break;
    }
    return noise.length_ns * exponential(random);
}

/// What is left of the interruption that time 0 falls in. Long ones are hit more often.
double rest_of_length(const RandomNoise& noise, Random& random) {
    switch (noise.lengths) {
    case NoiseLengths::constant: return noise.length_ns * random.unit();
    case NoiseLengths::uniform:
        return 2 * noise.length_ns * std::sqrt(random.unit()) * random.unit();
    case NoiseLengths::exponential: break;
    }
    return noise.length_ns * exponential(random);
}

} // namespace

void check_present(const Noise& noise) {
    if (!noise.present()) {
        throw Error(Errc::invalid_argument,
                    "there is no noise; record this machine's with corymb doctor --noise, or say "
                    "a period or a distribution");
    }
    noise.check();
}

Interruptions::Interruptions(const Noise& noise, Rank ranks, std::uint64_t replay, double unit_ns)
    : noise_(noise), unit_ns_(unit_ns),
      streams_(noise.aligned ? 1 : static_cast<std::size_t>(ranks)) {
    for (std::size_t rank = 0; rank < streams_.size(); ++rank) {
        streams_[rank].random = Random(seed_of(noise.seed, replay, rank));
        draw(streams_[rank], rank);
    }
}

void Interruptions::draw(Stream& stream, std::size_t rank) const {
    if (const auto* periodic = std::get_if<PeriodicNoise>(&noise_.source)) {
        const auto& phases = periodic->phases_ns;
        stream.shift = phases.empty() ? periodic->period_ns * stream.random.unit()
                                      : phases[rank % phases.size()];
    } else if (const auto* random = std::get_if<RandomNoise>(&noise_.source)) {
        if (stream.random.unit() < noise_.lost_share()) {
            stream.spans.push_back({0, rest_of_length(*random, stream.random)});
        }
    } else if (const auto* trace = std::get_if<std::shared_ptr<const NoiseTrace>>(&noise_.source)) {
        stream.recording = &(*trace)->cpus[rank % (*trace)->cpus.size()];
        stream.shift = stream.recording->recorded_ns * stream.random.unit();
    }
}

Interruptions::Span Interruptions::next_periodic(const PeriodicNoise& noise, double phase,
                                                 double time) {
    const double begin = phase + std::floor((time - phase) / noise.period_ns) * noise.period_ns;
    return time < begin + noise.length_ns
               ? Span{begin, begin + noise.length_ns}
               : Span{begin + noise.period_ns, begin + noise.period_ns + noise.length_ns};
}

Interruptions::Span Interruptions::next_recorded(const Stream& stream, double time) {
    const auto& list = stream.recording->interruptions;
    if (list.empty()) {
        constexpr double never = std::numeric_limits<double>::infinity();
        return {never, never};
    }
    const double recorded = stream.recording->recorded_ns;
    double turn = std::floor((time + stream.shift) / recorded) * recorded - stream.shift;
    auto found = std::ranges::upper_bound(list, time - turn, {}, [](const Interruption& one) {
        return one.begin_ns + one.length_ns;
    });
    for (;; ++found) {
        if (found == list.end()) {
            turn += recorded;
            found = list.begin();
        }
        // Rounding may find the one that `time` is the end of.
        const double begin = turn + found->begin_ns;
        if (const double end = begin + found->length_ns; end > time) {
            return {begin, end};
        }
    }
}

Interruptions::Span Interruptions::next_random(const RandomNoise& noise, Stream& stream,
                                               double time) {
    while (stream.spans.empty() || stream.spans.back().end <= time) {
        const double begin = (stream.spans.empty() ? 0 : stream.spans.back().end) +
                             noise.gap_ns * exponential(stream.random);
        stream.spans.push_back({begin, begin + length_of(noise, stream.random)});
    }
    const auto is_next = [&](std::size_t place) {
        return stream.spans[place].end > time &&
               (place == 0 || stream.spans[place - 1].end <= time);
    };
    if (stream.found + 1 >= stream.spans.size() || !is_next(stream.found)) {
        const auto found = std::ranges::upper_bound(stream.spans, time, {}, &Span::end);
        stream.found = static_cast<std::size_t>(found - stream.spans.begin());
    }
    return stream.spans[stream.found];
}

Interruptions::Span Interruptions::next(Stream& stream, double time) const {
    if (const auto* periodic = std::get_if<PeriodicNoise>(&noise_.source)) {
        return next_periodic(*periodic, stream.shift, time);
    }
    if (const auto* random = std::get_if<RandomNoise>(&noise_.source)) {
        return next_random(*random, stream, time);
    }
    return next_recorded(stream, time);
}

double Interruptions::run(Rank rank, double time, double work) const {
    Stream& of_rank = stream(rank);
    double now = time * unit_ns_;
    double left = work * unit_ns_;
    bool is_late = false;
    for (Span span = next(of_rank, now); now >= span.begin || now + left > span.begin;
         span = next(of_rank, now)) {
        is_late = true;
        left -= std::max(0.0, span.begin - now);
        now = span.end;
    }
    return is_late ? (now + left) / unit_ns_ : time + work;
}

} // namespace corymb::sim

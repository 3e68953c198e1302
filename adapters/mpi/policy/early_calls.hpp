// SPDX-License-Identifier: Apache-2.0
// Leaves the first calls of a communicator to the MPI, until its ranks agree on a team. Many
// communicators do not live long, and a team takes time: milliseconds on one node, tens of them
// between nodes, and some tenths of a second if the network is unknown. So calls have to take about
// as long first, or several times as long between nodes. A short program then does not pay for a
// team that it cannot use.
#pragma once

#include "policy/tuning.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace corymb::mpi {

/// Some nonblocking calls of a communicator that has no team yet, on this rank. Their time is what
/// the program spends in the calls that begin and complete them.
class RequestSample {
public:
    /// Whether the call with this number, from 1, is worth a look at the clock.
    [[nodiscard]] static bool has(std::uint64_t call) noexcept {
        return call <= tuning::sampled_requests || call % tuning::sampled_requests == 0;
    }
    void add(std::int64_t ns, std::int64_t cpu_ns) noexcept {
        ++count_;
        ns_ += ns;
        least_cpu_ns_ = std::min(least_cpu_ns_, cpu_ns);
    }
    /// The time of so many calls, by those of the sample.
    [[nodiscard]] std::int64_t time_ns(std::uint64_t calls) const noexcept {
        return count_ == 0 ? 0
                           : static_cast<std::int64_t>(static_cast<double>(ns_) / count_ *
                                                       static_cast<double>(calls));
    }
    /// Whether the MPI keeps the CPU of a rank while it waits: each call has taken much of a CPU. A
    /// call in which the rank waits for a late one does so, too, but not all do.
    [[nodiscard]] bool keeps_cpus() const noexcept {
        return count_ >= tuning::early_calls && least_cpu_ns_ > tuning::crowded_call_most_ns;
    }

private:
    int count_ = 0;
    std::int64_t ns_ = 0;
    std::int64_t least_cpu_ns_ = std::numeric_limits<std::int64_t>::max();
};

/// The first calls of one communicator. All ranks count blocking calls alike.
class EarlyCalls {
public:
    /// The next blocking collective. True: the ranks agree on a team before it, or that it is too
    /// early.
    [[nodiscard]] bool begin_blocking() noexcept { return made_++ == until_; }
    /// Uncounts the call: the MPI has refused it on this rank.
    void take_back_blocking() noexcept { --made_; }
    /// A call that corymb could do has taken so long on this rank.
    void add(std::int64_t ns) noexcept { ns_ += ns; }

    /// Calls have to take so long.
    void wait_for(std::int64_t wanted_ns) noexcept { wanted_ns_ = wanted_ns; }
    /// Not 0: what they have to take.
    [[nodiscard]] std::int64_t wanted_ns() const noexcept { return wanted_ns_; }
    /// The time of the calls so far on this rank, with so many nonblocking ones.
    [[nodiscard]] std::int64_t time_ns(std::uint64_t nonblocking,
                                       const RequestSample& sample) const noexcept {
        return ns_ + sample.time_ns(nonblocking);
    }
    /// Whether calls have taken as long as is wanted: `most_ns` on the rank on which they took
    /// longest. If not, the ranks agree again when they will have, by the calls so far, but after
    /// twice as many calls at the latest.
    [[nodiscard]] bool is_long_enough(std::uint64_t most_ns) noexcept {
        if (most_ns >= static_cast<std::uint64_t>(wanted_ns_) || made_ > made_most) {
            return true;
        }
        const int made = made_ - 1; // The call in which the ranks agree is to come.
        const double parts = static_cast<double>(wanted_ns_) /
                             static_cast<double>(std::max<std::uint64_t>(most_ns, 1));
        until_ = std::max(made + 1, static_cast<int>(std::min(parts, 2.0) * made));
        return false;
    }

private:
    static constexpr int made_most = 1 << 28; ///< Twice as many are still an int.

    int made_ = 0;
    int until_ = tuning::early_calls; ///< Calls after which the ranks agree.
    std::int64_t ns_ = 0;
    std::int64_t wanted_ns_ = 0;
};

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// What messages of several lengths cost from core to core, for each class of pairs.
#pragma once

#include <corymb/machine.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace corymb::discover {

/// Lengths of messages through a channel of cells.
inline constexpr std::array<int, 3> stream_bytes{64 << 10, 1 << 20, 16 << 20};
/// Lengths of bytes that one writes and another copies: a line, what fits a first-level cache, and
/// longer.
inline constexpr std::array<int, 8> fresh_bytes{64,       1 << 10,   4 << 10, 16 << 10,
                                                64 << 10, 256 << 10, 1 << 20, 16 << 20};
/// Lengths of messages between mailboxes: one line, two, and more.
inline constexpr std::array<int, 5> message_bytes{8, 64, 256, 1 << 10, 4 << 10};

/// Messages of several lengths between one pair of each class. Virtual CPUs move over their host
/// several times a second, which changes such times up to fivefold: so they are timed in several
/// visits, apart in time. The best counts, as of the other copies that plans choose among.
class Transfers {
public:
    /// Nanoseconds of a message of `bytes` from CPU to CPU; NaN when it could not be timed.
    using Probe = std::function<double(int from, int to, std::int64_t bytes)>;
    /// Whether there is time for a message of `bytes` to be timed.
    using KeepGoing = std::function<bool(std::int64_t bytes)>;

    /// Messages above 1 MiB only where both buffers are an eighth of `available_bytes` at most.
    /// Keeps no reference to the machine.
    Transfers(const Machine& machine, std::span<const int> lengths, std::int64_t available_bytes,
              Probe probe);

    /// Times every pair and size once, as far as `keep_going` agrees.
    void visit(const KeepGoing& keep_going);

    /// The best of the visits so far.
    [[nodiscard]] std::vector<Curve> curves() const;

private:
    /// Of one class and size.
    struct Timed {
        int pair_class;
        int from, to; ///< CPUs.
        int bytes;
        double best = std::numeric_limits<double>::infinity();
    };
    Probe probe_;
    std::vector<Timed> all_; // By class, then by size.
};

} // namespace corymb::discover

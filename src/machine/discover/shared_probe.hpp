// SPDX-License-Identifier: Apache-2.0
// Times several CPUs that use the same memory or the same word at once.
#pragma once

#include "machine/discover/crew.hpp"

#include <cstdint>
#include <span>

namespace corymb::discover {

/// All of its numbers are NaN where CPUs could not be had together or there is no memory.
class SharedProbe {
public:
    /// One number takes about this long, apart from memory that is touched first.
    static constexpr double point_s = 0.02;

    explicit SharedProbe(Crew& crew) : crew_(&crew) {}

    /// 10^9 bytes per second of copies by all of these CPUs at once, out of memory of so many bytes
    /// that lies at CPU `home`, each out of its share and into a small buffer of its own. The best
    /// of three.
    double copies(int home, std::span<const int> cpus, std::int64_t bytes);
    /// As `copies`, of a buffer that its owner has just written: all read all of it.
    double readers(int owner, std::span<const int> cpus, std::int64_t bytes);
    /// Nanoseconds of a barrier of one counter that all change and one word that all poll: the
    /// median.
    double counter(std::span<const int> cpus);

private:
    Crew* crew_;
};

} // namespace corymb::discover

// SPDX-License-Identifier: Apache-2.0
// Virtual CPUs float over the host's cores. A few pairs that are measured again at the end show it.
#pragma once

#include "machine/discover/pair_probe.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::discover {

class Sentinels {
public:
    /// At most 20 pairs, spread over the machine.
    explicit Sentinels(PairProbe& probe, std::uint64_t seed);

    /// Measures the pairs and returns how many changed by more than any noise explains (a factor of
    /// 1.6, confirmed by a second look) since the first call, which returns 0. No pair is begun
    /// after `end_s`, of the probe's clock; a pair that the first call has left out is given up.
    int changed(double end_s);
    [[nodiscard]] int count() const noexcept { return static_cast<int>(pairs_.size()); }

private:
    double cost(int first, int second);

    PairProbe* probe_;
    std::vector<std::pair<int, int>> pairs_;
    std::vector<double> before_;
};

} // namespace corymb::discover

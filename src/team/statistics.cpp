// SPDX-License-Identifier: Apache-2.0
#include "team/statistics.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corymb::detail {

TeamStatistics statistics_of(const channel::WaitRecord& record, int size) {
    TeamStatistics made;
    made.operations = record.operations();
    made.bytes = record.bytes();
    made.waits = record.waits();
    made.sleeps = record.sleeps();
    made.waited = std::chrono::nanoseconds(record.waited_ns());
    made.waited_for.resize(static_cast<std::size_t>(size));
    const auto& by_rank = record.waited_for_ns();
    std::transform(by_rank.begin(),
                   by_rank.begin() + std::min(std::ssize(by_rank), std::ptrdiff_t{size}),
                   made.waited_for.begin(),
                   [](std::int64_t waited_ns) { return std::chrono::nanoseconds(waited_ns); });
    return made;
}

} // namespace corymb::detail

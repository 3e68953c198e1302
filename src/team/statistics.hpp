// SPDX-License-Identifier: Apache-2.0
// A rank's record of waits as its user sees it.
#pragma once

#include "channel/wait_record.hpp"

#include <corymb/statistics.hpp>

namespace corymb::detail {

/// Without plans; the ranks of the record count as in the team of `size`.
[[nodiscard]] TeamStatistics statistics_of(const channel::WaitRecord& record, int size);

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Work that no rank waits for.
#pragma once

#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

namespace corymb::team {

/// Lets a thread do `work`, which may not throw, on any of these CPUs; empty: as the caller. The
/// thread takes no signals, and ranks that want its CPU get most of the time. `thread` had done its
/// work before. False: there is no thread to be had, and nothing happens.
[[nodiscard]] bool start_in_background(std::jthread& thread, const std::vector<int>& cpus,
                                       std::function<void(const std::stop_token&)> work) noexcept;

} // namespace corymb::team

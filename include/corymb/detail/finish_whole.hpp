// SPDX-License-Identifier: Apache-2.0
// A finish of tasks whose results are needed. A task that ends by a stop has not thrown.
#pragma once

#include <corymb/detail/strand.hpp>
#include <corymb/finish.hpp>
#include <corymb/task.hpp>
#include <corymb/this_task.hpp>

#include <stop_token>
#include <utility>

namespace corymb::detail {

/// In a task. Throws Errc::interrupted if it was asked to stop.
inline void require_no_stop(const char* before) {
    if (this_task::stop_token().stop_requested()) {
        Suspension::refuse_stopped(before);
    }
}

/// As `finish`. Throws Errc::interrupted if the task was asked to stop: then tasks may have ended
/// before they had done anything. `what` is what it waits for.
template <class F>
Task<> finish_whole(F start, const char* what) {
    co_await finish(std::move(start));
    require_no_stop(what);
}

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Ranks of a RemoteGroup in processes.
#pragma once

#include "children.hpp"

#include <corymb/remote.hpp>
#include <corymb/this_task.hpp>

#include <chrono>
#include <cstddef>
#include <functional>

namespace corymb::process_test {

inline RemoteOptions shared() {
    RemoteOptions options;
    options.between_processes = true;
    return options;
}

/// Whoever calls it never gets an answer.
inline Task<> sleep_on() {
    co_await this_task::sleep_for(std::chrono::hours(1));
}

/// A child that is `rank` and runs the task that `life` gives. Its number among the children.
inline std::size_t start_rank(Children& children, const Descriptor& group, Rank rank,
                              const std::function<Task<>()>& life) {
    return children.start([&group, rank, &life] {
        RemoteRank own = RemoteGroup::open(group.number()).join(rank);
        own.run(life());
    });
}

/// A child that is `rank` and sleeps until it is killed. Its number among the children.
inline std::size_t start_sleeper(Children& children, const Descriptor& group, Rank rank) {
    return start_rank(children, group, rank, sleep_on);
}

} // namespace corymb::process_test

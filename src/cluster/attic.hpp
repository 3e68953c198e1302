// SPDX-License-Identifier: Apache-2.0
// Memory of messages that were abandoned. A carrier may have no way to take back a message that its
// peer has begun to take or to fill, so that such memory must outlive the failure.
#pragma once

#include <exception>
#include <list>
#include <mutex>
#include <utility>

namespace corymb::cluster {

/// Keeps a value until the process ends. Only after failures, each of which ends a team. Without
/// memory for a place in the list the value stays where it is. Thread-safe.
template <class T>
void keep_for_good(T&& value) noexcept {
    static std::mutex lock;
    static auto& kept = *new std::list<T>; // Threads may still send while the process ends.
    try {
        const std::lock_guard guard(lock);
        kept.push_back(std::forward<T>(value));
    } catch (const std::exception&) {
        return;
    }
}

} // namespace corymb::cluster

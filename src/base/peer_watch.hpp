// SPDX-License-Identifier: Apache-2.0
// Tells which processes of a set have ended. A process that has crashed counts as ended even while
// its core is being written. A process that has ended counts before its parent has taken note of it
// (pidfd), and its number is not mistaken for a later process's.
#pragma once

#include "base/process_descriptor.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace corymb {

/// Thread-safe. Holds a descriptor a process, which all of them share; where there is none, a
/// process has ended once its parent has taken note of it.
class PeerWatch {
public:
    PeerWatch() = default;
    PeerWatch(const PeerWatch&) = delete;
    PeerWatch& operator=(const PeerWatch&) = delete;
    ~PeerWatch() = default;

    /// Watches a process from now on; the own one never ends.
    void add(std::uint32_t pid);
    /// Watches these processes and no others.
    void watch_only(const std::vector<std::uint32_t>& pids);
    /// Forgets a process that has ended: a later one may have its number.
    void forget(std::uint32_t pid) noexcept;
    /// Looks at all of them: one system call, now and then some more for each.
    void look() noexcept;
    /// The state at the last `look`; false for processes that are not watched.
    [[nodiscard]] bool has_ended(std::uint32_t pid) const noexcept;

private:
    struct Peer {
        std::shared_ptr<const ProcessDescriptor> descriptor; ///< Null: there is none.
        bool ended = false;
    };
    void add_locked(std::uint32_t pid);
    /// A process whose core is being written counts as ended: the core can take minutes.
    void look_for_crashes() noexcept;

    mutable std::mutex mutex_;
    std::map<std::uint32_t, Peer> peers_;
    std::int64_t crashes_looked_for_ = 0; ///< Time of the last search for crashes; with the lock.
};

} // namespace corymb

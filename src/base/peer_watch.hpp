// SPDX-License-Identifier: Apache-2.0
// Which of a set of processes have ended. One that has crashed and whose core is still
// being written has ended. A process that has ended counts before its parent has
// taken note of it (pidfd), and its number is not mistaken for a later process's.
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
    /// Of one that has ended: a later process may have its number.
    void forget(std::uint32_t pid) noexcept;
    /// Looks at all of them: one system call, now and then some more for each.
    void look() noexcept;
    /// As of the last `look`; false for processes that are not watched.
    [[nodiscard]] bool has_ended(std::uint32_t pid) const noexcept;

private:
    struct Peer {
        std::shared_ptr<const ProcessDescriptor> descriptor; ///< Null: there is none.
        bool ended = false;
    };
    void add_locked(std::uint32_t pid);
    /// Those whose core is being written count as ended: that can take minutes.
    void look_for_crashes() noexcept;

    mutable std::mutex mutex_;
    std::map<std::uint32_t, Peer> peers_;
    std::int64_t crashes_looked_for_ = 0; ///< When; with the lock.
};

} // namespace corymb

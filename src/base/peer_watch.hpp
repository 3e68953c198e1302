// SPDX-License-Identifier: Apache-2.0
// Tells which processes of a set have ended. A process that has crashed counts as ended even while
// its core is being written. A process that has ended counts before its parent has taken note of it
// (pidfd), and its number is not mistaken for a later process's.
#pragma once

#include "base/process_descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace corymb {

/// Thread-safe. Holds a descriptor a process, which all of them share; where there is none, a
/// process has ended once its parent has taken note of it.
class PeerWatch {
public:
    PeerWatch() = default;
    PeerWatch(const PeerWatch&) = delete;
    PeerWatch& operator=(const PeerWatch&) = delete;
    ~PeerWatch() = default;

    /// A process's number and, unless 0, its `process_start`. The start tells it from a later
    /// process of the same number.
    using Process = std::pair<std::uint32_t, std::uint64_t>;

    /// Watches a process from now on; the own one never ends.
    void add(std::uint32_t pid, std::uint64_t start = 0);
    /// Forgets all processes but these.
    void keep(const std::set<Process>& processes) noexcept;
    /// How many processes are watched.
    [[nodiscard]] std::size_t count() const noexcept;
    /// Looks at all of them: one system call, now and then some more for each.
    void look() noexcept;
    /// The state at the last `look`; false for processes that are not watched.
    [[nodiscard]] bool has_ended(std::uint32_t pid, std::uint64_t start = 0) const noexcept;

private:
    struct Peer {
        std::shared_ptr<const ProcessDescriptor> descriptor; ///< Null: there is none.
        bool ended = false;
    };
    /// A process whose core is being written counts as ended: the core can take minutes.
    void look_for_crashes() noexcept;

    mutable std::mutex mutex_;
    std::map<Process, Peer> peers_;
    std::int64_t crashes_looked_for_ = 0; ///< Time of the last search for crashes; with the lock.
};

} // namespace corymb

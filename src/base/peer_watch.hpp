// SPDX-License-Identifier: Apache-2.0
// Which of a set of processes have ended. A process that has ended counts before its parent has
// taken note of it (pidfd), and its number is not mistaken for a later process's.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace corymb {

/// Thread-safe. Holds one descriptor a process.
class PeerWatch {
public:
    PeerWatch() = default;
    PeerWatch(const PeerWatch&) = delete;
    PeerWatch& operator=(const PeerWatch&) = delete;
    ~PeerWatch();

    /// Watches a process from now on; the own one never ends.
    void add(std::uint32_t pid);
    /// Watches these processes and no others.
    void watch_only(const std::vector<std::uint32_t>& pids);
    /// Of one that has ended: a later process may have its number.
    void forget(std::uint32_t pid) noexcept;
    /// Looks at all of them: one system call.
    void look() noexcept;
    /// As of the last `look`; false for processes that are not watched.
    [[nodiscard]] bool has_ended(std::uint32_t pid) const noexcept;

private:
    struct Peer {
        int descriptor = -1;
        bool ended = false;
    };
    void add_locked(std::uint32_t pid);

    mutable std::mutex mutex_;
    std::map<std::uint32_t, Peer> peers_;
};

} // namespace corymb

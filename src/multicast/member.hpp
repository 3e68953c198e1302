// SPDX-License-Identifier: Apache-2.0
// What the ranks of a group share, and what one of them holds.
#pragma once

#include "base/cache_line.hpp"
#include "channel/env.hpp"
#include "channel/wait_ladder.hpp"
#include "multicast/core.hpp"
#include "multicast/options.hpp"
#include "multicast/shape.hpp"

#include <corymb/multicast.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace corymb::detail {

struct MulticastShared {
    using Core = multicast::Core<channel::StandardEnv>;

    MulticastShared(int ranks, const MulticastOptions& options);

    /// The part of a call that is not in the core's memory: of this process.
    struct Call {
        std::function<void()> fn;
        std::atomic<bool> failed{false};
        std::exception_ptr error; ///< Written by who sets `failed`.
        // For those who look from outside.
        std::atomic<Rank> initiator{-1};
        std::atomic<std::int64_t> begin_ns{0};
    };

    /// Finishes a complete call; returns its error.
    std::exception_ptr finish(std::uint32_t slot) noexcept;
    /// The token of this call is gone.
    void orphan(std::uint32_t slot);
    void finish_orphans();
    /// Who has not run the call of a slot yet, in the order of ranks.
    [[nodiscard]] std::vector<MulticastLate> late(std::uint32_t slot, std::int64_t begin_ns) const;

    int size;
    multicast::Resolved topology;
    multicast::Preorder order;
    std::int64_t deadline_ns;
    channel::WaitLadder::Settings waiting;
    channel::WaitLadder::Flag unbroken; ///< A ladder wants them; here nothing breaks or copies.
    channel::WaitLadder::Gate gate;

private:
    struct FreeBlock {
        void operator()(std::byte* block) const noexcept;
    };
    std::unique_ptr<std::byte, FreeBlock> block_;

public:
    Core core;
    std::unique_ptr<Call[]> calls;
    std::mutex mutex;
    std::vector<bool> taken; ///< By rank; with the mutex held.

private:
    std::vector<std::uint32_t> orphans_; ///< With the mutex held.
};

struct MulticastMember : std::enable_shared_from_this<MulticastMember> {
    MulticastMember(std::shared_ptr<MulticastShared> group, Rank own,
                    Multicast::Handler on_message);
    ~MulticastMember();
    MulticastMember(const MulticastMember&) = delete;
    MulticastMember& operator=(const MulticastMember&) = delete;

    /// Throws Errc::invalid_argument within a call that runs on this member.
    void require_outside(const char* what) const;
    void join();
    /// Throws Errc::timeout.
    void leave();
    /// Leaves as well as it can.
    void retire() noexcept;
    int poll();
    int sleep(std::int64_t limit_ns);
    MulticastToken call(std::function<void()> fn, std::span<const std::byte> message);

    /// Waits until `done()`, at most `limit_ns`; `stalled()` is called now and then.
    template <class Done, class Stalled>
    bool wait_until(Done& done, std::int64_t limit_ns, const Stalled& stalled);

    std::shared_ptr<MulticastShared> shared;
    Rank rank;
    std::uint32_t position;
    bool is_member = false;

private:
    /// For a wait of so long at most.
    [[nodiscard]] channel::WaitLadder& ladder(std::int64_t limit_ns) noexcept;
    int serve() noexcept;
    void run(std::uint32_t slot, const std::byte* payload) noexcept;
    [[nodiscard]] bool settle(std::int64_t limit_ns) noexcept;
    [[nodiscard]] std::uint32_t claim();

    Multicast::Handler handler_;
    channel::WaitLadder ladder_; ///< Learns how long this member's waits are.
    bool owes_ = false;          ///< Has left and may still be named by a call.
    bool is_running_ = false;

    friend class corymb::MulticastToken;
};

} // namespace corymb::detail

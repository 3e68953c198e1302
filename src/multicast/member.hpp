// SPDX-License-Identifier: Apache-2.0
// A rank of a multicast group.
#pragma once

#include "base/one_user.hpp"
#include "channel/wait_ladder.hpp"
#include "multicast/shared.hpp"

#include <corymb/multicast.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace corymb::detail {

struct MulticastMember : std::enable_shared_from_this<MulticastMember> {
    /// Throws Errc::invalid_argument when the rank is taken, Errc::timeout when an initiator has
    /// stopped in the middle of a call.
    MulticastMember(std::shared_ptr<MulticastShared> group, Rank own,
                    Multicast::Handler on_message);
    ~MulticastMember();
    MulticastMember(const MulticastMember&) = delete;
    MulticastMember& operator=(const MulticastMember&) = delete;

    /// Throws Errc::invalid_argument within a call that runs on this member.
    void require_outside(const char* what) const;
    void add_handler(std::uint32_t id, Multicast::Handler handler);
    void join();
    /// Throws Errc::timeout.
    void leave();
    /// Leaves as well as it can, once no other thread is in a call.
    void retire() noexcept;
    int poll();
    int sleep(std::int64_t limit_ns);
    /// Begins a call of `fn`, or of the handlers of this number.
    MulticastToken call(std::function<void()> fn, std::uint32_t handler,
                        std::span<const std::byte> message);
    /// Waits for a call of this member. Returns whether it ended; `lost` gets the members that
    /// ended before it.
    bool wait_for(std::uint32_t slot, std::int64_t limit_ns, std::vector<Rank>& lost);
    /// As `wait_for`, without waiting; looks at the other members once in a while.
    bool has_ended(std::uint32_t slot, std::vector<Rank>& lost);

    std::shared_ptr<MulticastShared> shared;
    Rank rank;
    std::uint32_t position;
    bool is_member = false;
    OneUser user{"multicast handle"};

private:
    /// Waits until `done()`, at most `limit_ns`; `stalled()` is called now and then.
    template <class Done, class Stalled>
    bool wait_until(Done& done, std::int64_t limit_ns, const Stalled& stalled);
    /// The ladder for a wait of so long at most.
    [[nodiscard]] channel::WaitLadder& ladder(std::int64_t limit_ns) noexcept;
    void inherit();
    int serve() noexcept;
    /// Throws what `serve` has kept.
    void throw_if_broken() const;
    void run(std::uint32_t slot, const std::byte* payload) noexcept;
    void run_handler(std::uint32_t id, std::span<const std::byte> message);
    [[nodiscard]] bool settle(std::int64_t limit_ns);
    [[nodiscard]] std::uint32_t claim();
    /// Forwards for others. Returns whether all members that are still waited for have ended.
    bool is_through(std::uint32_t slot, std::vector<Rank>& lost);
    [[nodiscard]] bool is_look_due() const noexcept;
    /// Somebody waits: looks after the other processes if that is due.
    void look_after_sometimes();
    /// Brings calls without an initiator on their way, and finishes complete ones.
    void rescue();

    std::vector<std::pair<std::uint32_t, Multicast::Handler>> handlers_;
    channel::WaitLadder ladder_; ///< Learns how long this member's waits are.
    bool owes_ = false;          ///< Has left and may still be named by a call.
    bool is_running_ = false;
    std::exception_ptr broken_;  ///< A broken invariant that `serve` has found.
    std::int64_t looked_at_ = 0; ///< When the other processes were looked after.
};

struct MulticastAccess {
    /// Whose call it is; null once the call is complete.
    static MulticastMember* member(const MulticastToken& of) noexcept { return of.member_.get(); }
};

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
// Acknowledged multicast: runs a function on every member of a group and tells when all have run
// it. Members come and go in constant time; ranks that are no members are not disturbed.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/plan.hpp>
#include <corymb/wait_policy.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace corymb {

class Machine;

namespace detail {
struct MulticastShared;
struct MulticastMember;
struct MulticastAccess; // for layers above
} // namespace detail

/// The path of a call over the members. A rank that is no member is passed by: the member before
/// it, or the initiator, does its share of the forwarding.
enum class MulticastTopology : std::uint8_t {
    flat,   ///< The initiator tells every member itself.
    binary, ///< A binary tree of all ranks.
    tree,   ///< The tree of a planned broadcast, see MulticastOptions::plan.
    split,  ///< Cuts the members of this call into `fan_out` equal parts, and these again.
    best,   ///< `split` with the numbers that the model of the machine gives; without a model
            ///< and with more ranks than CPUs `flat`.
};

/// How members say that they have run a call.
enum class MulticastAcknowledgement : std::uint8_t {
    /// Subtract from the counter of the member that told them; the last one of a counter goes on
    /// above it, back along the way of the call.
    counters,
    /// Answer the member that told them, which collects the answers of all that it told by polling.
    messages,
    best, ///< The model's choice, for MulticastTopology::best with one; otherwise `counters`.
    /// Subtract from counters that stand on a tree of their own, see MulticastOptions::gather.
    gather,
};

struct MulticastOptions {
    MulticastTopology topology = MulticastTopology::best;
    MulticastAcknowledgement acknowledgement = MulticastAcknowledgement::counters;
    /// For `tree`: a broadcast among as many ranks in which each takes from one other.
    std::optional<Plan> plan;
    /// For `gather`: a reduce among as many ranks in which each gives to one other. Without it one
    /// is planned on `machine`.
    std::optional<Plan> gather;
    int fan_out = 4; ///< For `split`, at least 1; with as many members or fewer it is flat.
    /// For `split`: so many members, if more than the fan-out, are told by one as well.
    int flat_up_to = 0;
    /// For `best`, which takes the two numbers above as they are when there is no model, and for
    /// `gather`. See `choose_multicast`.
    std::shared_ptr<const Machine> machine;
    std::vector<int>
        placement; ///< For `machine`: PU index of each rank; empty: one after the other.
    /// For the trees: jump to the next member instead of testing each rank on the way.
    bool skipping = true;
    int calls = 8; ///< In flight at once in the whole group, 1 to 64.
    /// Longest wait of everything that is not given a limit of its own; 0: 5 minutes.
    std::chrono::nanoseconds deadline{0};
    WaitPolicy wait_policy = WaitPolicy::ladder;
    /// The memory can be shared with other processes (`MulticastGroup::make_descriptor`).
    bool between_processes = false;
    /// Processes of one user that give the same name and size meet in one group, which the first of
    /// them makes with its options. The name is free again when no process that gave it has a
    /// handle of the group any more. Implies `between_processes`. Empty: no name.
    std::string_view name{};
};

/// A member that has not acknowledged.
struct MulticastLate {
    enum class State : std::uint8_t {
        told,    ///< Has not polled since it was told.
        running, ///< Has polled and is not through.
        untold,  ///< Waits for another late member to forward the call.
        ended,   ///< The member's process has ended, and nobody waits for it any more.
    };
    Rank rank = -1;
    State state = State::told;
    std::chrono::nanoseconds by{0}; ///< Since the call began.
    int pid = 0;                    ///< The member's process; 0 among threads.
};

/// A call that is under way, as somebody else sees it.
struct MulticastUnderWay {
    Rank initiator = -1;
    std::uint64_t number = 0;        ///< Counts the calls of one slot of the group.
    int members = 0;                 ///< Members that the call is for, without the initiator.
    std::vector<MulticastLate> late; ///< Members that have not run the call, in the order of ranks.
};

/// Longest message of `Multicast::send`.
inline constexpr std::size_t multicast_message_bytes = 56;

/// Names a call to its initiator. Used by the thread of its Multicast. May be thrown away: the call
/// goes on without a wait.
class CORYMB_EXPORT MulticastToken {
public:
    MulticastToken() = default; ///< A token of no call; complete.
    MulticastToken(MulticastToken&&) noexcept = default;
    MulticastToken& operator=(MulticastToken&& other) noexcept;
    ~MulticastToken();

    /// Whether every member of the snapshot has run it, or has ended. Polls; never waits.
    [[nodiscard]] bool test();
    /// Whether `test` or `wait` has found it complete. Looks at nothing.
    [[nodiscard]] bool is_complete() const noexcept { return member_ == nullptr; }
    /// Waits until the call is complete, and serves other initiators' calls meanwhile. Then all
    /// that the members did is visible here. Throws Errc::timeout after `limit` (0: the group's
    /// deadline) naming the late members and how late they are; the call goes on, and wait may be
    /// called again. Throws Errc::team_broken, whose `ranks()` are the members whose processes have
    /// ended without having acknowledged, when all others have; the group goes on. Rethrows the
    /// first exception that the call threw on a member, which counts as run. An exception of a
    /// member in another process becomes an Error with its code if it was one, otherwise
    /// std::runtime_error with its text.
    void wait(std::chrono::nanoseconds limit = std::chrono::nanoseconds{0});
    /// Members that have not run it yet, in the order of ranks. O(size).
    [[nodiscard]] std::vector<MulticastLate> late() const;
    /// How many members the call was for, the initiator included if it is one.
    [[nodiscard]] int members() const noexcept { return members_; }

private:
    friend struct detail::MulticastMember;
    friend struct detail::MulticastAccess;
    void wait_for_end(std::chrono::nanoseconds limit);
    void finish(const std::vector<Rank>& lost);
    void abandon() noexcept;
    std::shared_ptr<detail::MulticastMember> member_;
    std::uint32_t slot_ = 0;
    int members_ = 0;
    std::int64_t begin_ns_ = 0;
    std::exception_ptr error_;
};

/// A rank's place in a group; used by one thread at a time. A rank that is no member may call, too.
///
/// All that an initiator wrote before a call is visible to the members that run it, and to ranks
/// that join too late for it. All that a member did before it left, or ran, is visible to the
/// initiator when the call is complete. Calls of different initiators are not ordered.
///
/// A call that runs on a member must not use the group (Errc::invalid_argument) and should be
/// short: the initiator waits for it.
class CORYMB_EXPORT Multicast {
public:
    using Handler = std::function<void(std::span<const std::byte>)>;

    Multicast(Multicast&&) noexcept = default;
    Multicast& operator=(Multicast&& other) noexcept;
    /// Leaves. The rank can be taken again when its tokens are gone, too.
    ~Multicast();

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;

    /// Is told of every call from now on, and must poll. O(1), tells nobody. Nothing if it is a
    /// member. Throws Errc::timeout if an earlier leave did and there is still no end of that.
    void join();
    /// Leaves: calls that begin from now on do not reach this rank; serves the present ones that
    /// count on it. O(1), with one look at each slot; no other rank is told. Nothing if it is no
    /// member. Throws Errc::timeout after the group's deadline, when an initiator has stopped in
    /// the middle of a call.
    void leave();
    [[nodiscard]] bool is_member() const noexcept;

    /// Runs the calls that this member was told; returns their number. One load when there is none.
    int poll();
    /// Waits, at last asleep, until there is something to run or `limit` has passed, and runs it.
    int sleep(std::chrono::nanoseconds limit);

    /// Runs `fn()` on every member, here before `call` returns if this rank is one; copies of `fn`
    /// are not made, so it runs at the same time on several threads. Throws Errc::timeout when all
    /// slots stay in use for the group's deadline, Errc::invalid_argument in a group between
    /// processes: a function is of one process; name a handler and `send`.
    [[nodiscard]] MulticastToken call(std::function<void()> fn);
    /// Has this member run `handler` for messages to handlers of this number; 0 is the one of
    /// `MulticastGroup::join`. Replaces an earlier handler.
    void on(std::uint32_t number, Handler handler);
    /// Gives each member's handler of this number the bytes. Throws Errc::invalid_argument for more
    /// than `multicast_message_bytes`; a member without the handler throws it at the initiator's
    /// wait. Errc::timeout as `call`.
    [[nodiscard]] MulticastToken send(std::span<const std::byte> message,
                                      std::uint32_t handler = 0);
    template <class T>
        requires(!std::convertible_to<const T&, std::span<const std::byte>>)
    [[nodiscard]] MulticastToken send(const T& message, std::uint32_t handler = 0) {
        static_assert(detail::moves_as_bytes<T>());
        static_assert(sizeof(T) <= multicast_message_bytes,
                      "a message of a multicast has at most 56 bytes");
        return send(std::as_bytes(std::span(&message, 1)), handler);
    }

    /// While this object lives the rank is no member and calls do not wait for it: it promises not
    /// to use the data that they are about. Its beginning and end cost as much as leave and join.
    class CORYMB_EXPORT Quiescent {
    public:
        explicit Quiescent(Multicast& of);
        Quiescent(const Quiescent&) = delete;
        Quiescent& operator=(const Quiescent&) = delete;
        ~Quiescent();

    private:
        std::shared_ptr<detail::MulticastMember> member_;
        bool was_member_;
    };

private:
    friend class MulticastGroup;
    explicit Multicast(std::shared_ptr<detail::MulticastMember> member);
    std::shared_ptr<detail::MulticastMember> member_;
};

/// A handle on the shared part of a group. May go before its Multicasts: they keep the memory that
/// they need.
class CORYMB_EXPORT MulticastGroup {
public:
    /// Memory: 64 bytes a rank and call in flight, 512 a rank. Throws Errc::invalid_argument for
    /// options that do not fit; with `between_processes` also Errc::unsupported and io (no such
    /// memory). With a name also invalid_argument (the group of that name has another size or is of
    /// another kind), unsupported (another PID namespace) and timeout (its holder does not answer
    /// for a minute).
    explicit MulticastGroup(int size, const MulticastOptions& options = {});
    /// The group behind a descriptor of `make_descriptor`, which this process has inherited or was
    /// sent, and which stays the caller's. Throws Error: invalid_argument (of something else),
    /// unsupported (another user's, or this process lacks a system call that the others have).
    [[nodiscard]] static MulticastGroup open(int descriptor);
    /// A descriptor of the group's memory, inherited by child processes, which the caller closes.
    /// Throws Errc::invalid_argument for a group that is not `between_processes`.
    [[nodiscard]] int make_descriptor() const;

    /// Makes this thread `rank`, a member, which must poll. `handler` gets the messages of `send`.
    /// Throws Errc::invalid_argument for a rank out of range or taken; a rank whose process has
    /// ended is free again. Throws Errc::timeout after the group's deadline, when an initiator has
    /// stopped in the middle of a call.
    [[nodiscard]] Multicast join(Rank rank, Multicast::Handler handler = {});
    /// As `join`, but the rank is no member: it may call, and join later.
    [[nodiscard]] Multicast initiator(Rank rank, Multicast::Handler handler = {});
    [[nodiscard]] int size() const noexcept;
    /// The topology of calls and, for `best`, the reason for it, for people.
    [[nodiscard]] std::string topology() const;
    /// The calls that are not complete at this moment, for a monitor: from any thread, disturbs
    /// nobody. Advice: a call may end and another begin meanwhile. O(calls * size).
    [[nodiscard]] std::vector<MulticastUnderWay> under_way() const;
    /// Members at this moment; advice.
    [[nodiscard]] int members() const noexcept;

private:
    explicit MulticastGroup(std::shared_ptr<detail::MulticastShared> shared) noexcept;
    std::shared_ptr<detail::MulticastShared> shared_;
};

} // namespace corymb

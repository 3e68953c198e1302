// SPDX-License-Identifier: Apache-2.0
// Teams of threads and their group operations.
#pragma once

#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/operators.hpp>
#include <corymb/plan.hpp>
#include <corymb/wait_policy.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace corymb {

namespace detail {
struct Member;     // what one rank holds; src/team/
struct TeamShared; // what the ranks of a team share
} // namespace detail

/// Gives the plan for an operation of `size` ranks; must be deterministic and thread-safe. It is
/// called once per (operation, root, size class) and team, with the largest payload of the class
/// (8, 56, then powers of two), which the plan's `bytes_max` must cover. The default plans on the
/// cached model of this machine, or on its topology when there is none.
using PlanSource =
    std::function<Plan(Collective op, int size, Rank root, std::uint64_t bytes, bool ordered)>;

struct TeamOptions {
    /// Longest time an operation waits for its peers before it fails with Errc::timeout naming the
    /// ranks that are missing. Zero: 5 minutes, or the seconds in $CORYMB_DEADLINE.
    std::chrono::nanoseconds deadline{0};
    WaitPolicy wait = WaitPolicy::ladder;
    /// CPU (operating-system number) of each rank: placement for planning and, with `threads` and
    /// `pin`, where to bind. Empty: unknown, or chosen by `threads` when `pin` is set.
    std::vector<int> cpus;
    /// `threads` only: bind rank i to cpus[i] (default: the allowed CPUs in turn). The calling
    /// thread, which is rank 0, is bound meanwhile and gets its affinity back.
    bool pin = false;
    /// Where plans come from. Empty: the default.
    PlanSource plans;
};

/// One rank's handle on its team. Movable, not copyable; used by one thread at a time.
///
/// All ranks call the same operations in the same order with the same root, count and type.
/// Operations block until this rank's part is done and throw `Error` (timeout, team_broken) when a
/// peer fails to arrive; afterwards the team is broken for everybody and a new one must be made.
class CORYMB_EXPORT Team {
public:
    Team() noexcept = default;
    Team(Team&& other) noexcept;
    Team& operator=(Team&& other) noexcept;
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team();

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;

    /// Returns when every rank has called it.
    void barrier();

    /// Copies the root's `data` to every rank's. Same length everywhere.
    template <class T>
    void broadcast(std::span<T> data, Rank root = 0);
    template <class T>
    [[nodiscard]] T broadcast(T value, Rank root = 0);

    /// Combines `input` of all ranks element by element; the root's `output` has the result. On
    /// other ranks `output` may be empty. `output` may be the same memory as `input`.
    template <class T, class Op = std::plus<>>
    void reduce(std::span<const T> input, std::span<T> output, Op op = {}, Rank root = 0);

    /// As `reduce`, with the result on every rank.
    template <class T, class Op = std::plus<>>
    void allreduce(std::span<const T> input, std::span<T> output, Op op = {});
    template <class T, class Op = std::plus<>>
    [[nodiscard]] T allreduce(T value, Op op = {});

    /// Collective: ranks with equal `color` form a new team, ordered by (key, old rank). A negative
    /// color gives an empty handle (`size()` 0).
    [[nodiscard]] Team split(int color, int key = 0);

    /// The plan that an operation of this team runs with (plans it if need be); for inspection.
    [[nodiscard]] const Plan& plan(Collective op, std::uint64_t bytes = 8, Rank root = 0);

private:
    friend class ThreadTeam;
    explicit Team(std::shared_ptr<detail::TeamShared> shared, Rank rank);
    void run_broadcast(void* data, std::size_t bytes, Rank root);
    void run_reduction(Collective op, const void* input, void* output, std::size_t count,
                       const Reduction& reduction, Rank root);

    std::unique_ptr<detail::Member, void (*)(detail::Member*)> member_{nullptr, nullptr};
};

/// A team for threads that the user made: construct once, then each thread joins with its own rank.
class CORYMB_EXPORT ThreadTeam {
public:
    /// Throws Errc::invalid_argument for size < 1 or options that do not fit the size.
    explicit ThreadTeam(int size, const TeamOptions& options = {});
    /// This thread becomes `rank`. Throws Errc::invalid_argument when out of range or taken.
    [[nodiscard]] Team join(Rank rank);
    [[nodiscard]] int size() const noexcept;
    /// Breaks the team on behalf of a rank that cannot go on: everybody's operations fail at once
    /// with Errc::team_broken naming that rank and `why`. Thread-safe; the first call counts.
    void abandon(Rank rank, const std::string& why);

private:
    std::shared_ptr<detail::TeamShared> shared_;
};

/// Runs `fn(team)` on `count` threads, rank 0 on the calling thread, and returns when all are done.
/// If one throws, the others' operations fail at once with Errc::team_broken, and the first
/// exception is rethrown here.
CORYMB_EXPORT void threads(int count, const std::function<void(Team&)>& fn,
                           const TeamOptions& options = {});

} // namespace corymb

#include <corymb/detail/team_inline.hpp>

// SPDX-License-Identifier: Apache-2.0
// Teams of threads and their group operations.
#pragma once

#include <corymb/elements.hpp>
#include <corymb/error.hpp>
#include <corymb/export.hpp>
#include <corymb/operation.hpp>
#include <corymb/operators.hpp>
#include <corymb/packed.hpp>
#include <corymb/plan.hpp>
#include <corymb/plan_need.hpp>
#include <corymb/request.hpp>
#include <corymb/statistics.hpp>
#include <corymb/wait_policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

namespace corymb {

struct AttachOptions; // process.hpp

namespace detail {
struct Member;         // one rank; src/team/
struct TeamShared;     // shared by the ranks of a team
struct Untyped;        // detail/untyped.hpp: for bindings of other languages
struct OwnedOperation; // detail/untyped.hpp
} // namespace detail

/// Gives the plan for an operation; must be deterministic and thread-safe. It is called once per
/// team and need. The default plans on the cached model of this machine, or on its topology when
/// there is none.
using PlanSource = std::function<Plan(const PlanNeed& need)>;

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
    /// Source of the plans. Empty: the default.
    PlanSource plans;
    /// Reductions and scans combine in an order that depends on nothing but the ranks' numbers and
    /// how many there are. Results of floating point are then bitwise equal whichever rank comes
    /// first, on every machine and placement, for any root and count, among threads and among
    /// processes. The order rules out most plans, so reductions may take longer. Must be equal on
    /// all ranks; if not, Errc::mismatch. Teams made from this one have it too. A plan source of
    /// the user looks at PlanNeed::reproducible itself.
    bool reproducible = false;
    /// Asked in a long wait by the thread that waits: among threads first after 50 ms and then at
    /// most a second apart, among processes after 1 ms and then at most 20 ms apart. True ends the
    /// operation with Errc::interrupted and breaks the team. May not throw. Empty: never asked.
    std::function<bool()> interrupted;
    /// A wait asks first after so long and then at such intervals, which grow to a millisecond:
    /// for a hook that keeps another library going. A rank that sleeps because others want its CPU
    /// asks every millisecond. Zero: as above.
    std::chrono::nanoseconds interrupted_every{0};
    /// Ranks and programs that take turns on each CPU of the team, if others than its ranks do:
    /// other teams of the job, or other programs. Ranks that wait then give their CPU away. Must be
    /// equal on all ranks; teams made from this one count its ranks by themselves. 0: its ranks
    /// alone.
    int ranks_per_cpu = 0;
    /// The machine's levels that default plans by levels follow, as for set_levels (machine.hpp).
    /// Should be equal on all ranks: the one that plans first decides. Ranks that share CPUs are
    /// all alike and have no levels. Empty: $CORYMB_LEVELS, or what the model says. Errors of
    /// set_levels when the team is made, among processes when a rank plans.
    std::string levels{};
    /// What default plans are searched for: "median", or "p99", the tail under the noise that
    /// `corymb doctor --noise` has recorded here. Should be equal on all ranks: the one that plans
    /// first decides. The plans before a search, and those of ranks that share CPUs, are for the
    /// median. Empty: $CORYMB_OBJECTIVE, or "median". Errors when the team is made:
    /// Errc::unknown_name, Errc::io (no recording), those of load_noise_trace; Errc::unsupported of
    /// `over_nodes` for "p99".
    std::string objective{};
};

/// Limits of one rank's calls, in place of the team's; see Team::limited.
struct CallLimits {
    /// Longest time that an operation waits for its peers. Zero: the team's deadline.
    std::chrono::nanoseconds deadline{0};
    /// When a stop is requested, the rank's operation ends with Errc::interrupted.
    std::stop_token stop{};
};

/// One rank's handle on its team. Movable, not copyable; used by one thread at a time.
///
/// A buffer is a range of elements in one piece (`Elements`: std::vector, std::array, std::span and
/// so on), which is read and written in place, or the layout of elements that are not (`Packed`,
/// packed.hpp). Both kinds may meet in one operation. Elements are of one type that is plain data
/// (`is_plain_data`); others do not compile, nor do pointers. A buffer that this rank does not use
/// may be {}.
///
/// Each operation has three forms. `reduce` blocks until this rank's part is done. `ireduce`
/// returns a request at once. `reduce_init` returns a request on these buffers that can be started
/// many times. docs/reference/requests.md has the rules of requests. All ranks call the same
/// operations in the same order with the same root, count and type. Blocking ones are in an order
/// of their own, and may come in between the others anywhere. Persistent requests are made in the
/// same order everywhere, and started in any.
///
/// Operations throw `Error`: invalid_argument before anything is sent; timeout or team_broken when
/// a peer fails to arrive. Afterwards the team is broken for all ranks, and a new one must be made.
class CORYMB_EXPORT Team {
public:
    Team() noexcept = default;
    Team(Team&& other) noexcept;
    Team& operator=(Team&& other) noexcept;
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team();

    /// Makes this process one rank of a team of processes: the team of `corymb run`, or the one
    /// that the options name (process.hpp). Errors as for ProcessTeam.
    [[nodiscard]] static Team attach();
    [[nodiscard]] static Team attach(const AttachOptions& options);

    [[nodiscard]] Rank rank() const noexcept;
    [[nodiscard]] int size() const noexcept;
    /// Shared memory of the team's channels in bytes, for all ranks on this node together. Grows
    /// with the edges that plans use, and is given back with the last handle.
    [[nodiscard]] std::size_t memory() const;

    /// Runs an operation that is a value, and returns when this rank's part of it is done. All
    /// blocking functions do this. Throws Errc::invalid_argument as well for an operation that
    /// lacks its operator or the size of its elements.
    void run(const CollectiveOperation& operation);
    /// Starts the operation. Lists of parts are read during the call only. `keep` lives as long as
    /// the operation: the state of an operator.
    [[nodiscard]] Request start(const CollectiveOperation& operation,
                                std::shared_ptr<const void> keep = nullptr);
    /// Makes a persistent request of the operation.
    [[nodiscard]] Request prepare(const CollectiveOperation& operation,
                                  std::shared_ptr<const void> keep = nullptr);

    /// A barrier is left when every rank has come to it.
    void barrier();
    [[nodiscard]] Request ibarrier();
    [[nodiscard]] Request barrier_init();

    /// Copies the root's `data` to every rank's, in place. Same length everywhere. The blocking
    /// form returns `data`: a reference to a variable, or the temporary.
    template <class T = detail::Deduced, AnyElements Data>
    Data broadcast(Data&& data, Rank root = 0);
    /// Returns the root's `value`.
    template <class T>
        requires(!AnyElements<T>)
    [[nodiscard]] T broadcast(T value, Rank root = 0);
    template <class T = detail::Deduced, AnyElements Data>
    [[nodiscard]] Request ibroadcast(Data&& data, Rank root = 0);
    template <class T = detail::Deduced, AnyElements Data>
    [[nodiscard]] Request broadcast_init(Data&& data, Rank root = 0);

    /// Combines `input` of all ranks element by element, in the order of ranks: `op(a, b)` gets `a`
    /// from lower ranks than `b`. Any order is taken only if `op` is known to be commutative (the
    /// operators of operators.hpp on numbers) or said to be (`corymb::commutative(op)`). `op` must
    /// be associative, and may have state, which requests copy. So it is in all operations that
    /// combine.
    ///
    /// The root's `output` has the result. On other ranks `output` may be empty. `output` may be
    /// the same memory as `input`.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>,
              class Op = std::plus<>>
    void reduce(In&& input, Out&& output, Op op = {}, Rank root = 0);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>,
              class Op = std::plus<>>
    [[nodiscard]] Request ireduce(In&& input, Out&& output, Op op = {}, Rank root = 0);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>,
              class Op = std::plus<>>
    [[nodiscard]] Request reduce_init(In&& input, Out&& output, Op op = {}, Rank root = 0);

    /// Combines as `reduce`, with the result on every rank.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    void allreduce(In&& input, Out&& output, Op op = {});
    /// Returns the ranks' values, combined.
    template <class T, class Op = std::plus<>>
        requires(!AnyElements<Op>)
    [[nodiscard]] T allreduce(T value, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request iallreduce(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request allreduce_init(In&& input, Out&& output, Op op = {});

    /// Rank r's `input` becomes part r of the root's `output`, which has size() times as many
    /// elements; the root's own input may lie there already. Elsewhere `output` may be empty.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>>
    void gather(In&& input, Out&& output, Rank root = 0);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>>
    [[nodiscard]] Request igather(In&& input, Out&& output, Rank root = 0);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>>
    [[nodiscard]] Request gather_init(In&& input, Out&& output, Rank root = 0);

    /// Part r of the root's `input`, which has size() times as many elements, becomes rank r's
    /// `output`; the root's own output may lie there. Elsewhere `input` may be empty.
    template <class T = detail::Deduced, AnyElements Out, AnyElements In = detail::NoInput<Out>>
    void scatter(In&& input, Out&& output, Rank root = 0);
    template <class T = detail::Deduced, AnyElements Out, AnyElements In = detail::NoInput<Out>>
    [[nodiscard]] Request iscatter(In&& input, Out&& output, Rank root = 0);
    template <class T = detail::Deduced, AnyElements Out, AnyElements In = detail::NoInput<Out>>
    [[nodiscard]] Request scatter_init(In&& input, Out&& output, Rank root = 0);

    /// Gathers as `gather`, with the result on every rank.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    void allgather(In&& input, Out&& output);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request iallgather(In&& input, Out&& output);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request allgather_init(In&& input, Out&& output);

    /// Part q of rank p's `input` becomes part p of rank q's `output`. Both have the same number of
    /// elements, a multiple of size(), and are apart.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    void alltoall(In&& input, Out&& output);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request ialltoall(In&& input, Out&& output);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request alltoall_init(In&& input, Out&& output);

    /// Part r of all ranks' `input`, combined element by element, becomes rank r's `output`. The
    /// input has size() times as many elements; the output may lie in its part r.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    void reduce_scatter(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request ireduce_scatter(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request reduce_scatter_init(In&& input, Out&& output, Op op = {});

    /// Rank r's `output` has the inputs of the ranks 0 to r combined; it may be the input's memory.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    void scan(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request iscan(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request scan_init(In&& input, Out&& output, Op op = {});

    /// Combines as `scan`, over the ranks 0 to r - 1; rank 0's output is left as it is.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    void exscan(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request iexscan(In&& input, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request exscan_init(In&& input, Out&& output, Op op = {});

    // The vector operations: parts may differ in length, and some may be empty. `Parts` follow the
    // buffer that they describe; other ranks' parts must be as long as these say. Buffers lie in
    // one piece.

    /// See `gather`. Only the root needs `parts`.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>>
    void gatherv(In&& input, Out&& output, Parts parts, Rank root = 0);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>>
    [[nodiscard]] Request igatherv(In&& input, Out&& output, Parts parts, Rank root = 0);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out = detail::NoOutput<In>>
    [[nodiscard]] Request gatherv_init(In&& input, Out&& output, Parts parts, Rank root = 0);

    /// See `scatter`. Only the root needs `parts`, which may overlap.
    template <class T = detail::Deduced, AnyElements Out, AnyElements In = detail::NoInput<Out>>
    void scatterv(In&& input, Parts parts, Out&& output, Rank root = 0);
    template <class T = detail::Deduced, AnyElements Out, AnyElements In = detail::NoInput<Out>>
    [[nodiscard]] Request iscatterv(In&& input, Parts parts, Out&& output, Rank root = 0);
    template <class T = detail::Deduced, AnyElements Out, AnyElements In = detail::NoInput<Out>>
    [[nodiscard]] Request scatterv_init(In&& input, Parts parts, Out&& output, Rank root = 0);

    /// See `allgather`. The counts are equal on all ranks; displacements may differ.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    void allgatherv(In&& input, Out&& output, Parts parts);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request iallgatherv(In&& input, Out&& output, Parts parts);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request allgatherv_init(In&& input, Out&& output, Parts parts);

    /// See `alltoall`: count q of p's input is count p of q's output. Parts of the input may
    /// overlap. With bytes it does what MPI calls alltoallw: each part may have a type of its own.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    void alltoallv(In&& input, Parts input_parts, Out&& output, Parts output_parts);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request ialltoallv(In&& input, Parts input_parts, Out&& output,
                                     Parts output_parts);
    template <class T = detail::Deduced, AnyElements In, AnyElements Out>
    [[nodiscard]] Request alltoallv_init(In&& input, Parts input_parts, Out&& output,
                                         Parts output_parts);

    /// See `reduce_scatter`. The counts are equal on all ranks.
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    void reduce_scatterv(In&& input, Parts parts, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request ireduce_scatterv(In&& input, Parts parts, Out&& output, Op op = {});
    template <class T = detail::Deduced, AnyElements In, AnyElements Out, class Op = std::plus<>>
    [[nodiscard]] Request reduce_scatterv_init(In&& input, Parts parts, Out&& output, Op op = {});

    /// Sends a message to one rank. The k-th message from p to q goes to the k-th receive of q from
    /// p, and both name the same number of bytes. A send may wait for its receive.
    template <class T = detail::Deduced, AnyElements Data>
    void send(Data&& data, Rank to);
    template <class T = detail::Deduced, AnyElements Data>
    [[nodiscard]] Request isend(Data&& data, Rank to);
    template <class T = detail::Deduced, AnyElements Data>
    [[nodiscard]] Request send_init(Data&& data, Rank to);

    /// Receives a message of one rank.
    template <class T = detail::Deduced, AnyElements Data>
    void recv(Data&& data, Rank from);
    template <class T = detail::Deduced, AnyElements Data>
    [[nodiscard]] Request irecv(Data&& data, Rank from);
    template <class T = detail::Deduced, AnyElements Data>
    [[nodiscard]] Request recv_init(Data&& data, Rank from);

    /// Sends and receives at once, with any two ranks.
    template <class T = detail::Deduced, AnyElements Out, AnyElements In>
    void sendrecv(Out&& out, Rank to, In&& in, Rank from);

    /// Goes on with all operations under way as far as it can at once, and resumes coroutines whose
    /// operations are done. Bounded but for the coroutines' own work. Returns how many operations
    /// are still under way.
    std::size_t progress();
    /// Repeats `progress` until no operation is under way. Throws when one fails.
    void complete_all();

    /// Collective: ranks with equal `color` form a new team, ordered by (key, old rank). A negative
    /// color gives an empty handle (`size()` 0).
    [[nodiscard]] Team split(int color, int key = 0);

    /// After a failure: a new team of the ranks that call this, in their old order. Collective
    /// among the survivors; ranks that have ended or given up their handle are not waited for,
    /// others until the deadline. Throws Errc::team_broken on a rank that came too late,
    /// Errc::timeout.
    [[nodiscard]] Team shrink();

    /// From now on this rank's operations have these limits, also operations under way. An
    /// operation that a limit ends breaks the team, as the team's deadline does, because a rank
    /// that stops in the middle leaves its peers without its messages. A stop that is requested
    /// between two calls breaks the team as well. Throws Errc::invalid_argument for a negative
    /// deadline.
    void set_limits(const CallLimits& limits);
    /// The limits that were set last.
    [[nodiscard]] CallLimits limits() const;
    /// Calls `calls()` with these limits for the operations in it, and returns its result.
    /// Afterwards the limits are those from before. Throws as set_limits, and whatever `calls()`
    /// throws.
    template <class Calls>
    decltype(auto) limited(const CallLimits& limits, Calls&& calls);

    /// Breaks the team on behalf of this rank, which cannot go on: everybody's operations fail at
    /// once with Errc::team_broken naming it and `why`. The first failure of a team counts.
    void abandon(const std::string& why);
    /// Gives the handle back, as its destructor does: it completes the operations under way, and
    /// others that wait for this rank, now or later, fail at once with Errc::team_broken. Then it
    /// compares the collective operations of all ranks that have left, and throws Errc::mismatch if
    /// they differ: the last rank to leave notices differences that no rank had to wait for, such
    /// as two roots of a broadcast. A destructor notices them as well and cannot report them.
    /// Nothing is thrown if the team is broken already, or the handle empty.
    void leave();

    /// Collective: from the next one on, blocking calls of this kind run with the best plan that a
    /// search finds; returns when it is found. Without it they begin with a plan that is made at
    /// once, and go over to that plan when they have taken as long as the search; reductions of
    /// floating point and of users' operators do not. Kinds differ in
    /// the operation, the root, the size class of a part of `bytes` bytes, and whether operands are
    /// combined in rank order. Throws Errc::invalid_argument (root), team_broken, timeout.
    void warm_up(Collective op, std::uint64_t bytes = 8, Rank root = 0, bool ordered = false);

    /// The plan that an operation of this team runs with (plans it if need be); for inspection.
    [[nodiscard]] const Plan& plan(Collective op, std::uint64_t bytes = 8, Rank root = 0);
    /// Names that plan. Collective over several nodes, where the plan is not known yet.
    [[nodiscard]] ChosenPlan chosen_plan(Collective op, std::uint64_t bytes = 8, Rank root = 0);
    /// The plans that this process's ranks have needed so far; over several nodes, this rank.
    [[nodiscard]] std::vector<ChosenPlan> chosen_plans() const;
    /// What this rank has done so far, whom it has waited for, and the plans in use. O(ranks).
    [[nodiscard]] TeamStatistics statistics() const;

private:
    friend class ThreadTeam;
    friend class ProcessTeam;
    friend struct detail::Untyped;
    explicit Team(std::shared_ptr<detail::TeamShared> shared, Rank rank);
    /// Hidden from other libraries, so that the call at the beginning of each operation is direct.
    [[nodiscard, gnu::visibility("hidden")]] detail::Member& member() const;
    // The verbs for operations that own what they need.
    void run(const detail::OwnedOperation& owned);
    [[nodiscard]] Request start(detail::OwnedOperation owned);
    [[nodiscard]] Request prepare(detail::OwnedOperation owned);

    std::unique_ptr<detail::Member, void (*)(detail::Member*)> member_{nullptr, nullptr};
};

/// A team for threads that the user made: construct once, then each thread joins with its own rank.
class CORYMB_EXPORT ThreadTeam {
public:
    /// Throws Errc::invalid_argument for size < 1 or options that do not fit the size.
    explicit ThreadTeam(int size, const TeamOptions& options = {});
    /// Makes this thread `rank`. In a team with more ranks than usable CPUs, and no `cpus` in the
    /// options, the thread is moved to one of its CPUs in turn by rank, and is as free to go as
    /// before. Throws Errc::invalid_argument when the rank is out of range or taken.
    [[nodiscard]] Team join(Rank rank);
    [[nodiscard]] int size() const noexcept;
    /// Breaks the team on behalf of a rank that cannot go on: everybody's operations fail at once
    /// with Errc::team_broken naming that rank and `why`. Thread-safe; the first call counts.
    void abandon(Rank rank, const std::string& why);

private:
    std::shared_ptr<detail::TeamShared> shared_;
};

/// Runs `fn(team)` on `count` threads, rank 0 on the calling thread, and returns when all are done.
/// If one throws, the others' operations fail at once with Errc::team_broken. The first exception
/// is rethrown here, however late it comes out of its rank's function. Failures that the others
/// were told of it are thrown only if there is nothing else.
CORYMB_EXPORT void threads(int count, const std::function<void(Team&)>& fn,
                           const TeamOptions& options = {});

} // namespace corymb

#include <corymb/detail/team_inline.hpp>

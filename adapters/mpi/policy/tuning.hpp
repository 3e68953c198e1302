// SPDX-License-Identifier: Apache-2.0
// All numbers of the adapter's policy. Each says its unit, its origin, and what goes wrong when it
// is too small or too large. A rule that can follow what a program's calls have shown has no number
// here.
#pragma once

#include <cstdint>

namespace corymb::mpi::tuning {

/// Counted calls of each library in a trial. Reasoning: a mean of the shorter three quarters needs
/// a few. Too small: one disturbance decides. Too large: a short program ends within its trial.
inline constexpr int trial_calls = 8;
/// Counted calls if each moves long_bytes or more. Reasoning: a long call is long beside the clock
/// and beside one disturbance, so half as many show as much.
inline constexpr int trial_calls_long = 4;
/// Bytes from which on a call counts as long. Reasoning: it takes ten microseconds or more at the
/// copy rate of any machine of today, a hundred times the clock's own time. Too small: few short
/// calls decide. Too large: long calls of the slower library cost more than they show.
inline constexpr std::uint64_t long_bytes = 65'536;

/// The MPI gets an operation that it does in less than this part of corymb's time, in percent.
/// Reasoning: docs/internals/mpi.md promises that a row loses at most 3 %. Too small: losses.
/// Too large: equal libraries change places with the noise, and results with them.
inline constexpr std::uint64_t mpi_wins_below_percent = 97;

/// Nonblocking calls of a kind after a trial in which a rank waits for those of the trial to be
/// completed; then nobody has won. Reasoning: programs keep tens of requests, seldom a thousand.
/// Too small: programs that keep many get no winner. Too large: a program that never completes a
/// request agrees in each call.
inline constexpr std::uint64_t calls_until_given_up = 1024;
/// A check of a verdict may cost one part of so many of the time that the calls since the last one
/// take. Reasoning: 2 %, which with the trials that follow later stays within the promised 3 %. Too
/// small: checks cost more than that. Too large: a library that became the faster one is noticed
/// late.
inline constexpr std::uint64_t check_is_one_part_of = 50;
/// What the agreement at the end of a check costs, in calls of the MPI's. Reasoning: it is one
/// reduction over the same ranks, and its operands are longer than those of short calls. Too small:
/// verdicts about the shortest calls are checked too often.
inline constexpr std::uint64_t agreement_in_calls = 2;
/// How often the pause between checks doubles at most. Reasoning: a verdict that was confirmed so
/// often has held for a thousand pauses. Too large: the number of calls leaves 32 bits.
inline constexpr int pause_doublings_most = 10;

/// Blocking collectives of a communicator before its ranks first agree on a team. Reasoning:
/// libraries duplicate a communicator and make one or two calls on it to agree on its use. Too
/// small: teams for communicators that are freed at once. Too large: programs of few calls get
/// none.
inline constexpr int early_calls = 3;
/// Nonblocking calls of a communicator without a team whose time is taken: so many at first, then
/// one in so many. Reasoning: the clocks take a microsecond, and a call several. Too small: costs.
/// Too large: the first calls, which are slow, stand for all.
inline constexpr std::uint64_t sampled_requests = 16;
/// Descriptors that a process keeps open of boards, by which nonblocking calls get a team.
/// Reasoning: a process has 1,024 descriptors mostly. Too large: a program of a thousand
/// communicators runs out of them. Too small: later communicators have no team.
inline constexpr int boards_most = 64;
/// What blocking calls on one node have to take before there is a team, in ns: the first of a
/// process, and a later one. Measured: the first takes 6 to 8 ms for loading libcorymb and the
/// agreements, a later one 1 ms (docs/internals/mpi.md, two ranks, Open MPI). Reasoning: whoever
/// waits until as much has been spent as a team costs never pays more than twice what was needed.
/// Too small: short programs pay for teams. Too large: long ones do without.
inline constexpr std::int64_t first_team_pays_ns = 8'000'000;
inline constexpr std::int64_t team_pays_ns = 1'000'000;
/// What blocking calls between nodes have to take before there is a team, in ns, where the network
/// is known. Measured: such a team takes 25 ms (docs/internals/mpi.md, two nodes of two ranks), so
/// that one that is of no use costs an eighth. Too small: short programs pay for teams. Too large:
/// long ones do without.
inline constexpr std::int64_t team_between_nodes_pays_ns = 200'000'000;
/// As before, where the network has to be measured, which takes some tenths of a second more
/// (docs/results/nodes.md).
inline constexpr std::int64_t measured_network_pays_ns = 1'000'000'000;

/// Blocking calls between two points at which ranks compare their numbers of nonblocking calls.
/// Reasoning: a comparison is one reduction. While something is tried, one in eight calls is one
/// more; later one in a thousand, which is below what can be measured. Too small: costs. Too large:
/// trials of nonblocking calls are decided late.
inline constexpr std::uint32_t sync_point_calls_least = 8;
inline constexpr std::uint32_t sync_point_calls_most = 1024;

/// Time to make a plan between nodes for each pair of ranks, in ns. Measured with
/// bench/cluster/plan_ranks among 256 to 1,024 ranks on one core of a virtual machine (Skylake, 2
/// CPUs): an alltoall takes 10 us, a reduce_scatter 3 to 8, an allgather of 8 B, 1 KiB and 64 KiB
/// 1, 3 and 9. Too small: programs with few such calls wait for plans. Too large: programs with
/// many do without for longer.
inline constexpr std::uint64_t plan_ns_of_pair = 10'000;
inline constexpr std::uint64_t plan_ns_of_pair_in_short_gathers = 2'500;
inline constexpr std::uint64_t short_gather_bytes = 16'384;
/// A plan that takes less, in ns, is made at once. Reasoning: nobody notices it beside the start of
/// a program over several nodes, which takes a hundred times as long. Too small: calls of small
/// communicators wait for nothing.
inline constexpr std::uint64_t plan_noticed_ns = 10'000'000;
/// Calls that the MPI has before ranks first agree whether a plan pays; then twice as many each
/// time. Reasoning: as many as a trial counts.
inline constexpr std::uint32_t costly_plan_calls = 8;

/// CPUs count as shared if a rank has waited for one for one part of so many of the time in which
/// it could have run. Reasoning: a thread that has a CPU to itself waits for next to nothing; one
/// that shares it with another waits for half. Too small: each disturbance counts. Too large: a
/// program whose own threads want the CPUs of its ranks gets calls that take them.
inline constexpr std::uint64_t shared_is_one_part_of = 8;
/// The time after which that is looked at, in ns. Reasoning: a scheduler's slice of time is some
/// milliseconds, and a few of them show whether threads take turns. Too small: nothing is seen. Too
/// large: the first trials are all over.
inline constexpr std::uint64_t share_least_ns = 20'000'000;
/// With more ranks than CPUs, nothing is tried beside an MPI whose barrier takes more of a CPU, in
/// ns. Reasoning: a scheduler's slice is a millisecond or more, so such an MPI keeps the CPU of a
/// waiting rank until its slice is over. Too small: an MPI whose ranks give their CPUs away is not
/// tried. Too large: each of its calls in a trial costs a slice of each rank.
inline constexpr std::int64_t crowded_call_most_ns = 1'000'000;

/// Blocking calls in which ranks compare lists of which each knows its own only. Reasoning:
/// programs that give bounds instead of counts do so from their first call on. Each costs an
/// exchange.
inline constexpr int compared_lists = 3;

/// Pauses of the thread that looks after requests, in ns, multiplied by the ranks that share a CPU,
/// because each has such a thread. Reasoning: a look with its wake-up takes some us, so that looks
/// take a tenth of a CPU at first and a hundredth later. Too small: the threads take the CPUs from
/// the programs, which then never go on by themselves. Too large: requests wait for their thread.
inline constexpr std::int64_t shortest_look_ns = 50'000;
inline constexpr std::int64_t longest_look_ns = 1'000'000;
/// Looks without a request before the thread sleeps. Reasoning: as many pauses as a program takes
/// between two phases. Too small: a wake-up for each request. Too large: work for nothing.
inline constexpr int idle_looks = 100;

} // namespace corymb::mpi::tuning

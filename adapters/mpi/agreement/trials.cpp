// SPDX-License-Identifier: Apache-2.0
#include "agreement/trials.hpp"

#include "agreement/agree.hpp"
#include "below/node_ranks.hpp"
#include "requests/request_trials.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <vector>

namespace corymb::mpi {

namespace {

/// Whether others want the CPUs of this rank. Between nodes a call waits for the network, and takes
/// nobody's CPU meanwhile.
bool is_cpu_shared(Communicator& communicator) noexcept {
    const ThreadTimes times = thread_times();
    communicator.cpu_share.look(times.ran_ns, times.waited_ns);
    return !communicator.is_over_nodes() &&
           (communicator.crowd > 1 || communicator.cpu_share.is_shared());
}

} // namespace

void settle(Communicator& communicator, Choice& choice, Trial& trial, Operation operation,
            std::uint64_t bytes) noexcept {
    Trial::Evidence evidence = trial.evidence(is_cpu_shared(communicator));
    Agreement agreement;
    evidence.ask(agreement);
    if (!agree(agreement, communicator.comm)) {
        choice.settle(operation, bytes, trial.give_up());
        return;
    }
    choice.settle(operation, bytes, trial.decide(evidence));
    communicator.are_cpus_shared = evidence.are_cpus_shared();
}

/// Evidence about CPUs changes nothing here: blocking calls of other ranks need not have come to
/// the same point.
bool settle_on_board(Communicator& communicator, Trial& trial, Operation operation,
                     std::uint64_t bytes) {
    RequestBoard::End& end = communicator.request_board->end(operation, bytes);
    if (!end.has_told() && (end.calls() >= tuning::calls_until_given_up || are_complete(trial))) {
        forget_trial(trial);
        tell(end, trial, is_cpu_shared(communicator));
    }
    return settles(end, communicator.request_choice, trial, operation, bytes,
                   static_cast<std::size_t>(communicator.size));
}

void synchronise_requests(Communicator& communicator) noexcept {
    SyncPoints& points = communicator.sync_points;
    SyncPoints::Comparison comparison = points.comparison(communicator.request_choice.is_open());
    Agreement agreement;
    points.ask(agreement, comparison);
    if (!agree(agreement, communicator.comm)) {
        points.end();
        return;
    }
    if (!points.decide(comparison)) {
        return;
    }
    for (const Tried& tried : communicator.tried) {
        forget_trial(*tried.trial);
        settle(communicator, communicator.request_choice, *tried.trial, tried.operation,
               tried.bytes);
    }
    communicator.tried.clear();
}

void agree_that_plan_pays(Communicator& communicator, CostlyPlans::Wait& wait, Operation operation,
                          std::uint64_t bytes) noexcept {
    std::uint64_t least_ns = wait.ns();
    Agreement agreement;
    agreement.smallest(least_ns);
    if (!agree(agreement, communicator.comm)) {
        least_ns = ~std::uint64_t{0}; // The communicator is of no use to anybody now.
    }
    communicator.costly_plans.decide(wait, operation, bytes, least_ns);
}

bool agree_that_long_enough(Communicator& communicator, bool& has_team) noexcept {
    auto most_ns = static_cast<std::uint64_t>(
        communicator.early.time_ns(communicator.early_requests, early_sample(communicator)) +
        earlier_ns(communicator.early).load(std::memory_order_relaxed));
    std::uint64_t teams = has_team ? 1 : 0; // By maximum, so that one reduction is enough.
    Agreement agreement;
    agreement.largest(most_ns);
    agreement.largest(teams);
    // Without an answer the agreements that follow fail in the same way, and report it.
    const bool is_enough =
        !agree(agreement, communicator.comm) || communicator.early.is_long_enough(most_ns);
    has_team = teams != 0;
    return is_enough || has_team;
}

bool agree_that_lists_are_bounds(Communicator& communicator, Lists& lists,
                                 const std::uint64_t* sent, const std::uint64_t* expected) {
    std::vector<std::uint64_t> coming(static_cast<std::size_t>(communicator.size));
    const Host& mpi = host();
    const bool is_told = mpi.Alltoall(sent, 1, mpi.type_uint64, coming.data(), 1, mpi.type_uint64,
                                      communicator.comm) == MPI_SUCCESS;
    bool any_differs = is_told && !std::equal(coming.begin(), coming.end(), expected);
    Agreement agreement;
    agreement.any(any_differs);
    lists.are_bounds = agree(agreement, communicator.comm) && any_differs;
    ++lists.compared;
    return lists.are_bounds;
}

} // namespace corymb::mpi

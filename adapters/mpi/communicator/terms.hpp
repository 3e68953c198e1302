// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other before they make a team.
#pragma once

#include "below/node_ranks.hpp"
#include "policy/agreement.hpp"

#include <cstdint>

namespace corymb::mpi {

/// The terms of a rank; after an agreement, those of all.
struct Terms {
    std::uint64_t objections = 0;
    bool always = false;              ///< A rank wants no trials.
    bool by_thread = false;           ///< Requests of a rank go on by a thread.
    bool no_thread = false;           ///< A rank wants a thread and cannot make it.
    bool no_calls = false;            ///< The thread of a rank must not call the MPI.
    bool pass_by = false;             ///< Requests of a rank are completed past the adapter.
    CpuSet cpus;                      ///< CPUs that some rank may use.
    std::uint64_t crowd = 0;          ///< Ranks of a CPU, as far as a rank knows.
    std::uint64_t early_requests = 0; ///< As far as it is below Agreement::few_most.
    std::uint64_t machine = 0;
    bool is_one_machine = false;
    std::uint64_t kept = 0; ///< The team that a rank offers to go on with.
    bool has_kept = false;
    bool is_one_kept = false;
    // Rank 0 alone sets these.
    std::uint64_t pid = 0;
    std::uint64_t descriptor = 0;
    std::uint64_t nonce = 0;

    /// Names them all, in words that are combined by bitwise or.
    void ask(Agreement& agreement) {
        agreement.bits({&objections, 1});
        for (bool* const said : {&always, &by_thread, &no_thread, &no_calls, &pass_by, &has_kept}) {
            agreement.any(*said);
        }
        agreement.bits(cpus.word);
        agreement.largest_of_few(crowd);
        agreement.largest_of_few(early_requests);
        agreement.same(machine, is_one_machine);
        agreement.same(kept, is_one_kept);
        for (std::uint64_t* const said : {&pid, &descriptor, &nonce}) {
            agreement.from_one(*said);
        }
    }
};

} // namespace corymb::mpi

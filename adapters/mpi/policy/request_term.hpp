// SPDX-License-Identifier: Apache-2.0
// How a trial of nonblocking calls ends where the ranks see one memory: without waiting, and at one
// call of the kind on all ranks (src/channel/first_comer.hpp).
#pragma once

#include "policy/choice.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace corymb::mpi {

/// Words of the evidence of a trial whose measure is not `from_last`.
inline constexpr std::size_t told_words = 3;
using ToldWords = std::array<std::uint64_t, told_words>;

/// Tells the other ranks what this one has measured.
template <class End>
void tell(End& end, const Trial& trial, bool are_cpus_shared) {
    Trial::Evidence evidence = trial.evidence(are_cpus_shared);
    Agreement agreement;
    evidence.ask(agreement);
    ToldWords mine{};
    std::ranges::copy(agreement.words(agreement.only_way()), mine.begin());
    end.tell(mine);
}

/// In a call after the last one of the trial. True: all ranks settle the trial before this call of
/// theirs, and `choice` says who does the call.
template <class End>
[[nodiscard]] bool settles(End& end, Choice& choice, Trial& trial, Operation operation,
                           std::uint64_t bytes, std::size_t ranks) {
    if (!end.ends()) {
        return false;
    }
    Trial::Evidence evidence = trial.evidence(false);
    Agreement agreement;
    evidence.ask(agreement);
    const Agreement::By by = agreement.only_way();
    ToldWords all{};
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const ToldWords of_rank = end.facts(rank);
        for (std::size_t i = 0; i < told_words; ++i) {
            all[i] = Agreement::combined(by, all[i], of_rank[i]);
        }
    }
    agreement.take(by, all);
    choice.settle(operation, bytes, trial.decide(evidence));
    end.begin_term();
    return true;
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
#include "data/kept_calls.hpp"

#include "below/library.hpp"

namespace corymb::mpi {

void KeptCalls::drop(KeptCall& entry) noexcept {
    if (entry.call != nullptr) {
        give_back(CORYMB_HANDLE_CALL, entry.call);
    }
}

/// Without memory for it the call goes on as it is.
void KeptCalls::keep(KeptCall& entry, const CallMeaning& meaning, corymb_team* team) noexcept {
    entry.meaning = meaning;
    library().call_create(meaning.operation, meaning.count, meaning.type, meaning.with,
                          entry.shape.root, team, &entry.call);
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Family "corymb": the library with its wait ladder, with each single wait policy, and its drop-in
// for std::barrier.
#include "../worker/families.hpp"
#include "../worker/make.hpp"
#include "corymb_team.hpp"
#include "library_barriers.hpp"

#include <corymb/barrier.hpp>

#include <optional>

namespace corymb::bench {

namespace {

std::optional<WaitPolicy> policy_of(std::string_view name) {
    if (name == "corymb") {
        return WaitPolicy::ladder;
    }
    if (name == "corymb-spin") {
        return WaitPolicy::spin;
    }
    if (name == "corymb-yield") {
        return WaitPolicy::yield;
    }
    if (name == "corymb-park") {
        return WaitPolicy::park;
    }
    return std::nullopt;
}

} // namespace

std::unique_ptr<Workload> make_corymb(std::string_view name, const Case& what) {
    if (name == "corymb-barrier" && what.op == Operation::barrier) {
        return make_barrier<Anonymous<corymb::barrier<>>>(what, Waiting::spin);
    }
    const auto policy = policy_of(name);
    if (!policy) {
        return nullptr;
    }
    const auto cpus = what.pinned ? placement(what.ranks) : std::vector<int>{};
    if (what.op == Operation::barrier) {
        return make_barrier<CorymbTeam>(what, *policy, cpus);
    }
    return make_payload<CorymbTeam>(what, *policy, cpus);
}

} // namespace corymb::bench

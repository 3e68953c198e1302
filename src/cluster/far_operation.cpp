// SPDX-License-Identifier: Apache-2.0
#include "cluster/far_operation.hpp"

#include <corymb/error.hpp>

#include <utility>

namespace corymb::cluster {

FarPlan far_plan_of(const Station& station, const team::PlanKey& key, NodePart&& part,
                    unsigned number) {
    constexpr unsigned free_bits = 60; // Bits that PlanKey::number leaves free.
    FarPlan made;
    made.number = key.number() | std::uint64_t{number} << free_bits;
    made.far = far_steps(part, station.home, station.rank);
    if (key.keeps_parts) {
        made.vector = vector_plan_of(part, station.home, station.rank);
    }
    made.local = plan_of_node(std::move(part), station.home);
    made.readers = team::publication_readers(made.local);
    return made;
}

FarPlan far_plan_of(const Station& station, const team::PlanKey& key, std::string_view text) {
    try {
        return far_plan_of(station, key, station.part_of(key, text), 0);
    } catch (const Error&) { // All ranks get this error.
        FarPlan refused;
        refused.refusal = std::current_exception();
        return refused;
    }
}

bool say_where(FarWait& wait, const Mail& mail, Rank foreign_from) {
    if (foreign_from >= 0) {
        wait.peer = foreign_from;
        wait.is_foreign = true;
        return true;
    }
    const auto next = mail.wait();
    if (next) {
        wait.peer = next->peer;
        wait.channel = next->channel;
        wait.sends = next->sends;
        wait.messages = next->messages;
    }
    return next.has_value();
}

} // namespace corymb::cluster

// SPDX-License-Identifier: Apache-2.0
#include "cluster/far_operation.hpp"

#include <corymb/error.hpp>

#include <utility>

namespace corymb::cluster {

FarPlan far_plan_of(const Station& station, const team::PlanKey& key, std::string_view text) {
    FarPlan made;
    made.number = key.number();
    try {
        NodePart part = station.part_of(key, text);
        made.far = far_steps(part, station.home, station.rank);
        if (key.keeps_parts) {
            made.vector = vector_plan_of(part, station.home, station.rank);
        }
        made.local = plan_of_node(std::move(part), station.home);
        made.readers = team::publication_readers(made.local);
    } catch (const Error&) { // All ranks get this error.
        made.refusal = std::current_exception();
    }
    return made;
}

} // namespace corymb::cluster

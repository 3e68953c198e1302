// SPDX-License-Identifier: Apache-2.0
// Family "textbook": the classical barriers, and group operations through shared memory upon them.
#include "../worker/families.hpp"
#include "../worker/make.hpp"
#include "central.hpp"
#include "dissemination.hpp"
#include "shared_memory.hpp"
#include "static_tree.hpp"

namespace corymb::bench {

namespace {

template <class Barrier>
std::unique_ptr<Workload> make(const Case& what) {
    const bool crowded = what.ranks > static_cast<int>(allowed_cpus().size());
    const Waiting waiting = crowded ? Waiting::spin_then_yield : Waiting::spin;
    if (what.op == Operation::barrier) {
        return make_barrier<Barrier>(what, waiting);
    }
    return make_payload<SharedMemory<Barrier>>(what, what.bytes, waiting);
}

} // namespace

std::unique_ptr<Workload> make_textbook(std::string_view name, const Case& what) {
    if (name == "central-sense") {
        return make<CentralSenseBarrier>(what);
    }
    if (name == "central-ticket") {
        return make<CentralTicketBarrier>(what);
    }
    if (name == "mcs-dissemination") {
        return make<DisseminationBarrier>(what);
    }
    if (name == "mcs-static-tree") {
        return make<StaticTreeBarrier>(what);
    }
    return nullptr;
}

} // namespace corymb::bench

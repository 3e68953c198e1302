// SPDX-License-Identifier: Apache-2.0
// Family "library": barriers that ship with compilers and systems, and group operations through
// shared memory upon them.
#include "../worker/families.hpp"
#include "../worker/make.hpp"
#include "library_barriers.hpp"
#include "shared_memory.hpp"

namespace corymb::bench {

namespace {

template <class Barrier>
std::unique_ptr<Workload> make(const Case& what) {
    if (what.op == Operation::barrier) {
        return make_barrier<Barrier>(what, Waiting::spin);
    }
    return make_payload<SharedMemory<Barrier>>(what, what.bytes, Waiting::spin);
}

} // namespace

std::unique_ptr<Workload> make_library(std::string_view name, const Case& what) {
    if (name == "std-barrier") {
        return make<StdBarrier>(what);
    }
    if (name == "pthread-barrier") {
        return make<PthreadBarrier>(what);
    }
#if defined(CORYMB_BENCH_BOOST)
    if (name == "boost-barrier") {
        return make<BoostBarrier>(what);
    }
#endif
    return nullptr;
}

} // namespace corymb::bench

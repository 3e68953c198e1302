// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/permissions.hpp"

namespace corymb {

std::vector<Permission> probe_permissions() {
    using namespace discover;
    return {probe_pinning(),
            probe_quota(),
            probe_tick_counter(),
            probe_user_wait(),
            probe_futex(),
            probe_membarrier(),
            probe_transparent_huge_pages(),
            probe_explicit_huge_pages(),
            probe_shared_memory(),
            probe_memfd(),
            probe_process_vm_readv(),
            probe_numa_policy(),
            probe_perf_events(),
            probe_namespaces()};
}

} // namespace corymb

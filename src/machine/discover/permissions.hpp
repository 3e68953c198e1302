// SPDX-License-Identifier: Apache-2.0
// The single probes behind probe_permissions(), by what they concern. Each tries the real thing.
#pragma once

#include <corymb/discover.hpp>

#include <string>

namespace corymb::discover {

/// What the error of a system call means, and what to do about it, as far as the error tells:
/// seccomp is blamed only for errors that it makes.
std::string refusal(int error, const char* call);

Permission probe_pinning();
Permission probe_quota();
Permission probe_tick_counter();
Permission probe_user_wait();

Permission probe_futex();
Permission probe_membarrier();
Permission probe_perf_events();
Permission probe_namespaces();

Permission probe_transparent_huge_pages();
Permission probe_explicit_huge_pages();
Permission probe_shared_memory();
Permission probe_memfd();
Permission probe_process_vm_readv();
Permission probe_numa_policy();

} // namespace corymb::discover

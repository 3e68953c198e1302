// SPDX-License-Identifier: Apache-2.0
#include "base/common_memory.hpp"

#include "base/fork_count.hpp"
#include "base/limit_text.hpp"
#include "base/membarrier.hpp"
#include "base/usable_cpus.hpp"

#include <corymb/error.hpp>

#include <cerrno>
#include <optional>
#include <string>
#include <unistd.h>

namespace corymb::common {

std::uint32_t own_pid() noexcept {
    return static_cast<std::uint32_t>(::getpid());
}

bool make_fences(Reach reach) {
    if (reach == Reach::process || membarrier::join_machine()) {
        return false;
    }
    membarrier::use_full_light_fences();
    return true;
}

void join_fences(bool full) {
    if (!membarrier::join_machine() && !full) {
        throw Error(Errc::unsupported,
                    "this process may not call membarrier, but the one that made the memory may; "
                    "allow it here, or make the memory in a process that may not either");
    }
    if (full) {
        membarrier::use_full_light_fences();
    }
}

int inheritable(const SharedMemory* file, const char* what) {
    if (file == nullptr) {
        throw Error(Errc::invalid_argument, std::string("this ") + what +
                                                " is for the threads of one process; make it with "
                                                "the option between_processes");
    }
    const int descriptor = ::dup(file->descriptor()); // Without close-on-exec.
    if (descriptor < 0) {
        throw Error(Errc::io, std::string("no descriptor for the memory of this ") + what +
                                  " can be had: " + reason_with_limit(errno));
    }
    return descriptor;
}

void check_not_forked(std::uint32_t fork_count_then) {
    if (fork_count_then != fork_count()) {
        throw Error(
            Errc::invalid_argument,
            "this handle belongs to the parent process; a forked child attaches for itself");
    }
}

bool is_short_of_time(int threads) {
    const std::optional<double> quota = cpu_quota();
    return quota && threads > *quota;
}

} // namespace corymb::common

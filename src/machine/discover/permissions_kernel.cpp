// SPDX-License-Identifier: Apache-2.0
#include "base/membarrier.hpp"
#include "base/small_file.hpp"
#include "machine/discover/child_process.hpp"
#include "machine/discover/permissions.hpp"

#include <fmt/format.h>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

namespace corymb::discover {
namespace {

std::string reason(int error) {
    return std::strerror(error);
}

} // namespace

std::string refusal(int error, const char* call) {
    switch (error) {
    case EPERM:
    case EACCES:
        return fmt::format("{} is refused ({}); allow it in the container's seccomp profile", call,
                           reason(error));
    case ENOSYS:
        return fmt::format("this kernel has no {}, or a sandbox hides it ({})", call,
                           reason(error));
    default: return fmt::format("{} fails ({})", call, reason(error));
    }
}

Permission probe_futex() {
    const std::uint32_t word = 0;
    timespec at_once{};
    errno = 0;
    const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &at_once, nullptr, 0);
    Permission row{"futex", result == -1 && errno == ETIMEDOUT, {}};
    row.detail = row.available
                     ? "waiting threads can sleep in the kernel"
                     : "waiting threads can only spin and yield: " + refusal(errno, "futex");
    return row;
}

Permission probe_membarrier() {
    Permission row{"membarrier", membarrier::available(), {}};
    if (row.available) {
        row.detail = "private expedited: a sender needs no fence to wake a sleeper";
        return row;
    }
    errno = 0;
    const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    row.detail = "every message carries a full fence (some 10 ns): ";
    if (offered < 0) {
        row.detail += refusal(errno, "membarrier");
    } else if ((offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) {
        row.detail += "this kernel has no private expedited membarrier; use one from 4.14 on";
    } else {
        row.detail += "this process does without the call";
    }
    return row;
}

Permission probe_perf_events() {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_HARDWARE;
    event.config = PERF_COUNT_HW_CPU_CYCLES;
    event.disabled = 1;
    event.exclude_kernel = 1;
    const long file = syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
    const int error = errno;
    Permission row{"perf events", file >= 0, {}};
    if (file >= 0) {
        close(static_cast<int>(file));
        row.detail = "hardware counters can be read";
    } else {
        row.detail = fmt::format("hardware counters cannot be opened ({}); corymb does not need "
                                 "them, only profiling does",
                                 reason(error));
    }
    return row;
}

Permission probe_namespaces() {
    Permission row{"namespaces", false, {}};
    // In a child, since a process cannot leave the namespaces that it has made.
    const pid_t child = fork();
    if (child == 0) {
        const int flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID;
        leave_child(unshare(flags) == 0 ? 0 : errno & 0x7f);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        row.detail = "a child process could not be run";
        return row;
    }
    row.available = WEXITSTATUS(status) == 0;
    row.detail =
        row.available
            ? "user, network, mount and PID namespaces can be made: a small cluster can be "
              "tested on this machine"
            : fmt::format("namespaces cannot be made ({}): tests that play a cluster on one "
                          "machine are skipped",
                          reason(WEXITSTATUS(status)));
    return row;
}

} // namespace corymb::discover

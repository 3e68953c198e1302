// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"
#include "base/small_file.hpp"
#include "machine/discover/child_process.hpp"
#include "machine/discover/permissions.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace corymb::discover {
namespace {

std::string reason(int error) {
    return std::strerror(error);
}

constexpr std::size_t huge_page_bytes = 2u << 20;

} // namespace

Permission probe_transparent_huge_pages() {
    Permission row{"transparent huge pages", false, {}};
    const auto mode = read_small_file("/sys/kernel/mm/transparent_hugepage/enabled");
    if (!mode) {
        row.detail = "the kernel does not offer them; large buffers use small pages";
        return row;
    }
    row.available = mode->find("[never]") == std::string::npos;
    const bool always = mode->find("[always]") != std::string::npos;
    row.detail = always ? "used for all large buffers"
                 : row.available
                     ? "used for buffers that ask for them (madvise)"
                     : "switched off; large buffers use small pages. As root: echo madvise "
                       "> /sys/kernel/mm/transparent_hugepage/enabled";
    return row;
}

Permission probe_explicit_huge_pages() {
    Permission row{"explicit huge pages", false, {}};
    void* const memory = mmap(nullptr, huge_page_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (memory == MAP_FAILED) {
        row.detail = "none can be had; transparent ones serve as well";
        row.detail += errno == ENOMEM ? ". As root: echo 64 > /proc/sys/vm/nr_hugepages"
                                      : ": " + refusal(errno, "mmap(MAP_HUGETLB)");
        return row;
    }
    munmap(memory, huge_page_bytes);
    row.available = true;
    row.detail = "at least one page of the default size can be had";
    return row;
}

Permission probe_shared_memory() {
    Permission row{"/dev/shm", false, {}};
    struct statvfs state{};
    if (statvfs("/dev/shm", &state) != 0) {
        row.detail = fmt::format("cannot be reached ({}): process teams need memfd or another "
                                 "directory; mount a tmpfs there",
                                 reason(errno));
        return row;
    }
    const double mebibytes =
        static_cast<double>(state.f_bavail) * static_cast<double>(state.f_frsize) / (1 << 20);
    const std::string name = fmt::format("/corymb-probe-{}", getpid());
    const Descriptor file(shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
    const int error = errno;
    if (file.number() < 0) {
        row.detail =
            fmt::format("cannot be written ({}): process teams use memfd; {}", reason(error),
                        error == EACCES  ? "as root: chmod 1777 /dev/shm"
                        : error == EROFS ? "mount a tmpfs there that can be written"
                                         : "see the limits of this process");
        return row;
    }
    shm_unlink(name.c_str());
    row.available = true;
    row.detail = fmt::format("{:.0f} MiB free", mebibytes);
    if (mebibytes < 256) {
        row.detail += "; large messages between processes may not fit: start the container with "
                      "--shm-size=1g";
    }
    return row;
}

Permission probe_memfd() {
    Permission row{"memfd", false, {}};
    const Descriptor file(static_cast<int>(syscall(SYS_memfd_create, "corymb-probe", 1u)));
    row.available = file.number() >= 0 && ftruncate(file.number(), 4096) == 0;
    row.detail = row.available ? "anonymous shared memory works, whatever the size of /dev/shm"
                               : fmt::format("cannot be made ({}): process teams use /dev/shm",
                                             reason(errno));
    return row;
}

namespace {

/// Yama refuses from scope 2 on what this process tries with its own child.
std::string why_not_copied(int error) {
    const char scope =
        read_small_file("/proc/sys/kernel/yama/ptrace_scope").value_or("0").append("0").front();
    if (error != EPERM || scope < '2') {
        return refusal(error, "process_vm_readv");
    }
    return scope == '2'
               ? "Yama refuses it; set kernel.yama.ptrace_scope to 0 or give the container "
                 "CAP_SYS_PTRACE"
               : "Yama refuses it until the next boot; start without "
                 "kernel.yama.ptrace_scope=3";
}

} // namespace

Permission probe_process_vm_readv() {
    Permission row{"process_vm_readv", false, {}};
    // A child with a value that this process has not: only a real copy can bring it here.
    std::array<int, 2> channel{};
    if (pipe2(channel.data(), O_CLOEXEC) != 0) {
        row.detail = "no pipe could be made to try it";
        return row;
    }
    const Descriptor read_end(channel[0]);
    std::uint64_t value = 1;
    const pid_t child = fork();
    if (child == 0) {
        // Nobody shall outlive a killed parent. Waits until the parent has looked.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        value = 42;
        const char done = 1;
        if (write(channel[1], &done, 1) == 1) {
            pause();
        }
        leave_child(0);
    }
    close(channel[1]);
    if (child < 0) {
        row.detail = "no child process could be made to try it";
        return row;
    }
    char ready = 0;
    std::uint64_t copy = 0;
    iovec here{&copy, sizeof copy};
    iovec there{&value, sizeof value};
    errno = 0;
    const bool copied = read(read_end.number(), &ready, 1) == 1 &&
                        process_vm_readv(child, &here, 1, &there, 1, 0) == sizeof copy;
    const int error = errno;
    const bool written = copied && process_vm_writev(child, &here, 1, &there, 1, 0) == sizeof copy;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    row.available = copied && copy == 42;
    row.detail =
        row.available
            ? fmt::format("large messages between processes are copied once{}",
                          written ? ", by both ends"
                                  : "; by the receiver only, as process_vm_writev is refused")
            : "large messages between processes are copied twice through shared memory: " +
                  why_not_copied(error);
    return row;
}

Permission probe_numa_policy() {
    Permission row{"NUMA policy", false, {}};
    constexpr unsigned long nodes_max = 1024;
    constexpr unsigned long bits = 64;
    std::array<std::uint64_t, nodes_max / bits> nodes{};
    constexpr int allowed_nodes = 4; // MPOL_F_MEMS_ALLOWED
    if (syscall(SYS_get_mempolicy, nullptr, nodes.data(), nodes_max, nullptr, allowed_nodes) != 0) {
        row.detail = "memory lies where it is first touched, which is enough for bound ranks: " +
                     refusal(errno, "get_mempolicy");
        return row;
    }
    // Any other than the allowed nodes would be refused, whatever the rights.
    int count = 0;
    unsigned long first = nodes_max;
    for (unsigned long node = nodes_max; node-- > 0;) {
        if ((nodes[node / bits] >> (node % bits) & 1) != 0) {
            first = node;
            ++count;
        }
    }
    nodes = {};
    if (first < nodes_max) {
        nodes[first / bits] = std::uint64_t{1} << (first % bits);
    }
    constexpr std::size_t bytes = 4096;
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        row.detail = "no memory could be had to try it: " + refusal(errno, "mmap");
        return row;
    }
    constexpr int preferred = 1; // MPOL_PREFERRED
    row.available = syscall(SYS_mbind, memory, bytes, preferred, nodes.data(), nodes_max, 0u) == 0;
    const int error = errno;
    munmap(memory, bytes);
    row.detail = row.available
                     ? fmt::format("memory can be placed on {}",
                                   count == 1 ? fmt::format("node {}, the only one allowed", first)
                                              : fmt::format("each of {} nodes", count))
                     : "memory lies where it is first touched, which is enough for bound ranks: " +
                           refusal(error, "mbind");
    return row;
}

} // namespace corymb::discover

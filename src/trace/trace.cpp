// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"
#include "base/memory_view.hpp"
#include "base/process_state.hpp"
#include "trace/looks.hpp"

#include <corymb/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace corymb {

namespace {

namespace fs = std::filesystem;

TracedGroup group_in(MemoryView& memory) {
    const Arena arena(memory, memory.root());
    if (arena.root() != 0) {
        for (const auto look :
             {trace::look_at_multicast, trace::look_at_broadcast, trace::look_at_mailboxes}) {
            if (auto found = look(arena)) {
                return std::move(*found);
            }
        }
    }
    TracedGroup other;
    other.kind = "team";
    other.about = "a team, whose ranks are not traced";
    return other;
}

/// Never throws for the contents of the memory: memory of another version is shown as such.
TracedGroup look_at(int descriptor) {
    try {
        const auto memory = MemoryView::open(descriptor);
        return group_in(*memory);
    } catch (const Error& error) {
        if (error.code() != Errc::invalid_argument) {
            throw;
        }
        TracedGroup unknown;
        unknown.kind = "unknown";
        unknown.about = "made by another version of corymb";
        return unknown;
    }
}

[[noreturn]] void refuse(int pid, int reason) {
    const std::string who = "process " + std::to_string(pid);
    if (reason == ENOENT || reason == ESRCH) {
        throw Error(Errc::invalid_argument, "there is no " + who);
    }
    if (reason == EACCES || reason == EPERM) {
        throw Error(Errc::unsupported, who + " may not be looked at: it is another user's, or "
                                             "protected; trace it as its user or as root");
    }
    throw Error(Errc::io,
                "the descriptors of " + who + " cannot be read: " + std::strerror(reason));
}

} // namespace

std::uint32_t trace::unlocked(const std::uint32_t& word) noexcept {
    return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(word))
        .load(std::memory_order_relaxed);
}

std::uint32_t trace::process_of(const group::Place& place) noexcept {
    const std::uint32_t pid = unlocked(place.pid);
    return pid != 0 ? pid : unlocked(place.lost_pid);
}

std::string trace::process_of(std::uint32_t pid) {
    if (pid == 0) {
        return {};
    }
    const std::string state = process_state(pid); // ", stopped"
    return state.empty() ? "running" : state.substr(2);
}

std::vector<TracedGroup> trace_process(int pid) {
    if (pid <= 0) {
        throw Error(Errc::invalid_argument, "there is no process " + std::to_string(pid));
    }
    std::error_code problem;
    const fs::path folder = "/proc/" + std::to_string(pid) + "/fd";
    fs::directory_iterator each(folder, problem);
    if (problem) {
        refuse(pid, problem.value());
    }
    std::map<std::uint64_t, TracedGroup> found; // A process has several descriptors of one group.
    for (; each != fs::directory_iterator(); each.increment(problem)) {
        if (problem) {
            break; // The process has ended meanwhile.
        }
        const fs::path target = fs::read_symlink(each->path(), problem);
        if (problem || target.native().rfind("/memfd:corymb", 0) != 0) {
            continue;
        }
        const Descriptor memory(::open(each->path().c_str(), O_RDONLY | O_CLOEXEC));
        struct stat file{};
        if (memory.number() < 0) {
            if (errno == EACCES || errno == EPERM) {
                refuse(pid, errno);
            }
            continue; // Closed meanwhile.
        }
        if (::fstat(memory.number(), &file) == 0 && !found.contains(file.st_ino)) {
            TracedGroup group = look_at(memory.number());
            group.id = file.st_ino;
            found.emplace(file.st_ino, std::move(group));
        }
    }
    std::vector<TracedGroup> all;
    for (auto& [id, group] : found) {
        all.push_back(std::move(group));
    }
    return all;
}

} // namespace corymb

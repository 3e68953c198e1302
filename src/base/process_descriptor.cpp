// SPDX-License-Identifier: Apache-2.0
#include "base/process_descriptor.hpp"

#include <cerrno>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>
#include <utility>

namespace corymb {

namespace {

struct Known {
    std::mutex lock;
    std::map<std::uint32_t, std::weak_ptr<const ProcessDescriptor>> by_pid;
};
Known& known() {
    static auto* const one = new Known; // Never destroyed: a program's static objects may ask.
    return *one;
}

/// A later process may have its number by now.
bool has_ended(const ProcessDescriptor& process) noexcept {
    pollfd polled{process.number(), POLLIN, 0};
    return ::poll(&polled, 1, 0) > 0;
}

bool is_room_for_one_more(std::size_t count) noexcept {
    constexpr rlim_t share = 4;
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || count < limit.rlim_cur / share;
}

} // namespace

ProcessDescriptor::Opened ProcessDescriptor::open(std::uint32_t pid) {
    Known& all = known();
    const std::lock_guard lock(all.lock);
    if (const auto found = all.by_pid.find(pid); found != all.by_pid.end()) {
        if (auto descriptor = found->second.lock();
            descriptor != nullptr && !has_ended(*descriptor)) {
            return {std::move(descriptor), 0};
        }
    }
    std::erase_if(all.by_pid, [](const auto& one) { return one.second.expired(); });
    if (!is_room_for_one_more(all.by_pid.size())) {
        return {nullptr, EMFILE};
    }
    const auto opened = std::make_shared<ProcessDescriptor>(-1);
    opened->number_ = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
    if (opened->number_ < 0) {
        return {nullptr, errno};
    }
    all.by_pid[pid] = opened;
    return {opened, 0};
}

ProcessDescriptor::~ProcessDescriptor() {
    if (number_ >= 0) {
        ::close(number_);
    }
}

} // namespace corymb

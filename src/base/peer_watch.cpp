// SPDX-License-Identifier: Apache-2.0
#include "base/peer_watch.hpp"

#include "base/clock.hpp"
#include "base/process_state.hpp"

#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <utility>

namespace corymb {

namespace {

// A look costs a system call for all processes, and for each of them three more, of about 20 us, to
// see whether it has crashed. With 64 processes that is 3 % of the time of a waiting thread. If the
// looks were rarer, a crash would be noticed late.
constexpr std::int64_t crashes_every_ns = 50'000'000;

} // namespace

void PeerWatch::add(std::uint32_t pid, std::uint64_t start) {
    const std::lock_guard lock(mutex_);
    const Process process{pid, start};
    const bool is_own = pid == static_cast<std::uint32_t>(::getpid());
    if ((is_own && start == 0) || peers_.contains(process)) {
        return;
    }
    auto [descriptor, error] = is_own ? ProcessDescriptor::Opened{} : ProcessDescriptor::open(pid);
    // The start is read after the descriptor was opened, or both could be of different processes.
    const std::uint64_t now = start == 0 ? 0 : process_start(pid);
    peers_[process] = {std::move(descriptor), error == ESRCH || (now != 0 && now != start)};
}

void PeerWatch::keep(const std::set<Process>& processes) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase_if(peers_, [&](const auto& entry) { return !processes.contains(entry.first); });
}

std::size_t PeerWatch::count() const noexcept {
    const std::lock_guard lock(mutex_);
    return peers_.size();
}

void PeerWatch::look() noexcept {
    const std::lock_guard lock(mutex_);
    look_for_crashes();
    // On the stack, in portions: this runs while a thread waits.
    constexpr std::size_t portion = 64;
    pollfd polled[portion];
    Peer* owners[portion];
    std::size_t count = 0;
    const auto flush = [&] {
        if (count != 0 && ::poll(polled, count, 0) > 0) {
            for (std::size_t i = 0; i < count; ++i) {
                owners[i]->ended = owners[i]->ended || (polled[i].revents & POLLIN) != 0;
            }
        }
        count = 0;
    };
    for (auto& [process, peer] : peers_) {
        if (peer.ended) {
            continue;
        }
        if (peer.descriptor == nullptr) { // No pidfd: noticed once its parent has taken note.
            peer.ended = ::kill(static_cast<pid_t>(process.first), 0) != 0 && errno == ESRCH;
            continue;
        }
        polled[count] = {peer.descriptor->number(), POLLIN, 0};
        owners[count] = &peer;
        if (++count == portion) {
            flush();
        }
    }
    flush();
}

void PeerWatch::look_for_crashes() noexcept {
    const std::int64_t now = now_ns();
    if (now - crashes_looked_for_ < crashes_every_ns) {
        return;
    }
    crashes_looked_for_ = now;
    for (auto& [process, peer] : peers_) {
        peer.ended = peer.ended || is_dumping_core(process.first);
    }
}

bool PeerWatch::has_ended(std::uint32_t pid, std::uint64_t start) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(Process{pid, start});
    return found != peers_.end() && found->second.ended;
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "base/peer_watch.hpp"

#include "base/clock.hpp"
#include "base/process_state.hpp"

#include <algorithm>
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

void PeerWatch::add(std::uint32_t pid) {
    const std::lock_guard lock(mutex_);
    add_locked(pid);
}

void PeerWatch::watch_only(const std::vector<std::uint32_t>& pids) {
    const std::lock_guard lock(mutex_);
    std::erase_if(peers_, [&pids](const auto& entry) {
        return std::find(pids.begin(), pids.end(), entry.first) == pids.end();
    });
    for (const std::uint32_t pid : pids) {
        add_locked(pid);
    }
}

void PeerWatch::forget(std::uint32_t pid) noexcept {
    const std::lock_guard lock(mutex_);
    peers_.erase(pid);
}

void PeerWatch::add_locked(std::uint32_t pid) {
    if (pid == static_cast<std::uint32_t>(::getpid()) || peers_.contains(pid)) {
        return;
    }
    auto [descriptor, error] = ProcessDescriptor::open(pid);
    peers_[pid] = {std::move(descriptor), error == ESRCH};
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
    for (auto& [pid, peer] : peers_) {
        if (peer.ended) {
            continue;
        }
        if (peer.descriptor == nullptr) { // No pidfd: noticed once its parent has taken note.
            peer.ended = ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
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
    for (auto& [pid, peer] : peers_) {
        peer.ended = peer.ended || is_dumping_core(pid);
    }
}

bool PeerWatch::has_ended(std::uint32_t pid) const noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = peers_.find(pid);
    return found != peers_.end() && found->second.ended;
}

} // namespace corymb

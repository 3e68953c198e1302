// SPDX-License-Identifier: Apache-2.0
#include "remote/far_watch.hpp"

#include "base/blocked_signals.hpp"

#include <corymb/error.hpp>

#include <cerrno>
#include <cstdint>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace corymb::detail {

namespace {

void control(int epoll, int operation, int descriptor, std::uint32_t events) {
    epoll_event wanted{};
    wanted.events = events;
    wanted.data.fd = descriptor;
    if (::epoll_ctl(epoll, operation, descriptor, &wanted) != 0) {
        throw Error(Errc::io, "the descriptor of a carrier cannot be watched: " +
                                  std::generic_category().message(errno));
    }
}

} // namespace

FarWatch::FarWatch(int descriptor)
    : watched_(descriptor), both_(made_descriptor(::epoll_create1(EPOLL_CLOEXEC), "a carrier")),
      end_(made_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "a carrier")) {
    control(both_.number(), EPOLL_CTL_ADD, end_.number(), EPOLLIN);
    control(both_.number(), EPOLL_CTL_ADD, watched_, EPOLLONESHOT); // Not armed yet.
    const BlockedSignals blocked;
    watcher_ = std::thread([this] { watch(); });
}

FarWatch::~FarWatch() {
    const std::uint64_t one = 1;
    static_cast<void>(::write(end_.number(), &one, sizeof one));
    watcher_.join();
}

void FarWatch::arm() noexcept {
    epoll_event wanted{};
    wanted.events = EPOLLIN | EPOLLONESHOT;
    wanted.data.fd = watched_;
    ::epoll_ctl(both_.number(), EPOLL_CTL_MOD, watched_, &wanted);
}

void FarWatch::watch() noexcept {
    for (;;) {
        epoll_event event{};
        if (::epoll_wait(both_.number(), &event, 1, -1) != 1) {
            continue; // A debugger has stopped it.
        }
        if (event.data.fd != watched_) {
            return;
        }
        event_.wake_if_parked();
    }
}

} // namespace corymb::detail

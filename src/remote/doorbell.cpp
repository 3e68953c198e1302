// SPDX-License-Identifier: Apache-2.0
#include "remote/doorbell.hpp"

#include "base/blocked_signals.hpp"
#include "channel/tuning.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace corymb::detail {

namespace {

using Env = channel::StandardEnv;

} // namespace

Doorbell::Doorbell()
    : ring_(made_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "a scheduler")) {
    const BlockedSignals blocked;
    watcher_ = std::thread([this] { watch(); });
}

Doorbell::~Doorbell() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    disarm();
    changed_.notify_one();
    watcher_.join();
}

void Doorbell::ring() noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(::write(ring_.number(), &one, sizeof one));
}

void Doorbell::arm(const Events::Words& words, std::int64_t timeout_ns) {
    {
        const std::lock_guard lock(mutex_);
        words_ = words;
        words_.push_back({&stop_, stop_.load(std::memory_order_relaxed), Reach::process});
        timeout_ns_ = timeout_ns;
        is_armed_ = true;
    }
    changed_.notify_one();
}

void Doorbell::disarm() noexcept {
    {
        const std::lock_guard lock(mutex_);
        is_armed_ = false;
        stop_.fetch_add(1, std::memory_order_relaxed);
    }
    Env::futex_wake(stop_, 1);
    std::uint64_t rung = 0;
    static_cast<void>(::read(ring_.number(), &rung, sizeof rung));
}

void Doorbell::watch() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return is_armed_ || ends_; });
        if (ends_) {
            return;
        }
        const Events::Words words = words_;
        const std::int64_t timeout_ns = timeout_ns_;
        lock.unlock();
        if (!Env::futex_wait_any(words, timeout_ns)) {
            const auto& first = words.front();
            Env::futex_wait(*first.word, first.expected,
                            std::min(timeout_ns, channel::tuning::nap_ns.value()), first.reach);
        }
        lock.lock();
        if (is_armed_ && words_.back().expected == words.back().expected) {
            is_armed_ = false;
            ring();
        }
    }
}

} // namespace corymb::detail

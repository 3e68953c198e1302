// SPDX-License-Identifier: Apache-2.0
#include "team_handle.hpp"

#include <cstring>
#include <optional>
#include <unistd.h>

namespace corymb::python {

namespace {

/// Only the main thread runs signal handlers, so only it uses this.
nb::python_error*& interruption() {
    static nb::python_error* raised = nullptr;
    return raised;
}

bool is_main_thread() noexcept {
    return ::gettid() == ::getpid();
}

} // namespace

void Keep::start() noexcept {
    if (!copy.empty()) {
        std::memcpy(copy.data(), recv.data, copy.size());
    }
}

bool look_for_signals() noexcept {
    if (!is_main_thread()) {
        return false;
    }
    const nb::gil_scoped_acquire lock;
    if (interruption() != nullptr) {
        return true;
    }
    if (PyErr_CheckSignals() == 0) {
        return false;
    }
    interruption() = new nb::python_error(); // Raised and deleted by raise_interruption.
    return true;
}

void raise_interruption() {
    if (is_main_thread() && interruption() != nullptr) {
        const std::unique_ptr<nb::python_error> raised(std::exchange(interruption(), nullptr));
        throw nb::python_error(*raised);
    }
}

Handle::Use::Use(Handle& handle) : handle_(&handle) {
    if (handle.in_use_.exchange(true, std::memory_order_acquire)) {
        throw Error(Errc::invalid_argument,
                    "the team is in use by another thread; give each thread a rank of its own");
    }
    if (handle.has_orphans_.load(std::memory_order_relaxed)) {
        handle.look_after_orphans();
    }
}

Handle::Use::~Use() {
    handle_->in_use_.store(false, std::memory_order_release);
}

void Handle::look_after_orphans() noexcept {
    std::vector<Orphan> done; // Dropped outside the lock: that may run Python code.
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < orphans_.size();) {
        bool is_done = !orphans_[i].request.is_active();
        try {
            is_done = is_done || orphans_[i].request.test();
        } catch (const Error&) {
            is_done = true; // The team is broken, which its next operation says.
        }
        if (is_done) {
            done.push_back(std::move(orphans_[i]));
            orphans_.erase(orphans_.begin() + static_cast<std::ptrdiff_t>(i));
        } else {
            ++i;
        }
    }
    has_orphans_.store(!orphans_.empty(), std::memory_order_relaxed);
}

void Handle::adopt(Request request, std::unique_ptr<Keep> keep) noexcept {
    {
        const std::lock_guard lock(mutex_);
        orphans_.push_back({std::move(request), std::move(keep)});
        has_orphans_.store(true, std::memory_order_relaxed);
    }
    if (!in_use_.exchange(true, std::memory_order_acquire)) {
        look_after_orphans();
        in_use_.store(false, std::memory_order_release);
    }
}

void Handle::free() {
    try {
        call([](Team& team) {
            if (team.size() > 0) {
                team.complete_all();
            }
        });
    } catch (const Error&) {
        // The team is broken, so nothing is under way; each request tells its own outcome.
    }
    const Use use(*this);                     // Drops what is done.
    Team left = std::exchange(team_, Team()); // With the lock: other threads look at the team.
    const nb::gil_scoped_release unlocked;
    Team(std::move(left)).leave();
}

Handle::~Handle() {
    look_after_orphans();
    const nb::gil_scoped_release unlocked;
    try {
        if (!orphans_.empty() && team_.size() > 0) {
            team_.abandon("it gave up its team while operations were under way");
        }
    } catch (const Error&) {
        // In a forked child, which cannot speak for its parent.
    }
    for (Orphan& orphan : orphans_) {
        orphan.request = Request();
    }
    team_ = Team();
    // The members are destroyed with the lock again.
}

} // namespace corymb::python

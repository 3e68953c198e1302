// SPDX-License-Identifier: Apache-2.0
#include "base/one_user.hpp"

#include <corymb/error.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace corymb {

constinit thread_local std::uintptr_t OneUser::stack_mark = 0;

OneUser* OneUser::enter_anew(std::uintptr_t own, std::uintptr_t seen) {
    require_own_process();
    if (seen == (own | busy)) {
        return nullptr;
    }
    // A failed exchange means that another thread has just come in.
    if ((seen & busy) != 0 ||
        !state_.compare_exchange_strong(seen, own | busy, std::memory_order_relaxed)) {
        throw Error(Errc::invalid_argument,
                    std::string("this ") + name_ +
                        " is in use by another thread or task; one at a time uses it, so give each "
                        "its own");
    }
    return this;
}

OneUser::Call OneUser::enter_when_free() noexcept {
    // Any short time will do: the other call takes its own time.
    constexpr auto nap = std::chrono::microseconds(100);
    const std::uintptr_t own = this_thread();
    for (;;) {
        std::uintptr_t seen = state_.load(std::memory_order_relaxed);
        if (seen == (own | busy)) {
            return {};
        }
        if ((seen & busy) == 0 &&
            state_.compare_exchange_strong(seen, own | busy, std::memory_order_relaxed)) {
            return Call(this);
        }
        std::this_thread::sleep_for(nap);
    }
}

void OneUser::refuse_inherited() const {
    throw Error(Errc::invalid_argument,
                std::string("this ") + name_ +
                    " belongs to the parent process; a forked child opens the group or "
                    "attaches to the team for itself");
}

void refuse_empty(const char* name, const char* why) {
    throw Error(Errc::invalid_argument, std::string("this ") + name + " is empty: " + why);
}

} // namespace corymb

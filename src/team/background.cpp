// SPDX-License-Identifier: Apache-2.0
#include "team/background.hpp"

#include "base/usable_cpus.hpp"

#include <csignal>
#include <exception>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace corymb::team {

namespace {

/// Beside a thread of ordinary niceness it gets a tenth of a CPU: see sched_prio_to_weight in the
/// kernel, 1024 to 110.
constexpr int niceness = 10;

/// Signals are for the program's threads: new threads inherit the mask.
class SignalsBlocked {
public:
    SignalsBlocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

private:
    sigset_t before_{};
};

} // namespace

bool start_in_background(std::jthread& thread, const std::vector<int>& cpus,
                         std::function<void(const std::stop_token&)> work) noexcept {
    try {
        const SignalsBlocked blocked;
        thread = std::jthread([cpus, work = std::move(work)](const std::stop_token& stop) {
            if (!cpus.empty()) { // Refused: where the rank is that has started it.
                static_cast<void>(set_affinity_mask(cpus));
            }
            // On Linux the call sets the niceness of this thread alone. If it is refused, the
            // thread runs at the niceness of the others.
            static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness));
            work(stop);
        });
        return true;
    } catch (const std::exception&) {
        return false;
    }
}

} // namespace corymb::team

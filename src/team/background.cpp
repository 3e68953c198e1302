// SPDX-License-Identifier: Apache-2.0
#include "team/background.hpp"

#include "base/blocked_signals.hpp"
#include "base/usable_cpus.hpp"

#include <exception>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace corymb::team {

namespace {

/// Beside a thread of ordinary niceness it gets a tenth of a CPU: see sched_prio_to_weight in the
/// kernel, 1024 to 110.
constexpr int niceness = 10;

} // namespace

bool start_in_background(std::jthread& thread, const std::vector<int>& cpus,
                         std::function<void(const std::stop_token&)> work) noexcept {
    try {
        const BlockedSignals blocked;
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

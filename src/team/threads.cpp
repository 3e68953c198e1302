// SPDX-License-Identifier: Apache-2.0
#include "base/thread_limits.hpp"
#include "base/usable_cpus.hpp"
#include "team/team_shared.hpp"

#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

namespace corymb {

namespace {

void bind_to(int cpu) {
    if (!set_affinity_mask({cpu})) {
        throw Error(Errc::unsupported, "cannot bind a thread to CPU " + std::to_string(cpu) + ": " +
                                           std::strerror(errno) +
                                           "; choose CPUs out of the process's affinity mask");
    }
}

/// Whether `error` only tells `rank` that another rank has broken the team. The other rank's own
/// exception may come later: the team breaks as soon as that exception passes a request under way,
/// and the exception still has to leave all frames above.
bool is_consequence(const Error& error, Rank rank) {
    return error.code() == Errc::team_broken && !error.ranks().empty() &&
           std::ranges::find(error.ranks(), rank) == error.ranks().end();
}

/// Runs the ranks as threads. `first` keeps the first exception of all ranks or, while there are
/// only consequences of one that is still to come, the first consequence.
class Crew {
public:
    Crew(int count, const std::function<void(Team&)>& fn, const TeamOptions& options)
        : team_(count, options), fn_(&fn), options_(&options) {}

    void live(Rank rank) noexcept {
        // Invariant: destroyed after the others have been told why the rank has failed.
        Team handle;
        try {
            if (options_->pin) {
                bind_to(options_->cpus[static_cast<std::size_t>(rank)]);
            }
            handle = team_.join(rank);
            (*fn_)(handle);
            handle.leave();
        } catch (const Error& error) {
            give_up(rank, error.what(), is_consequence(error, rank));
        } catch (const std::exception& error) {
            give_up(rank, error.what());
        } catch (...) {
            give_up(rank, "an exception of an unknown type");
        }
    }

    void give_up(Rank rank, const char* why, bool consequence = false) noexcept {
        const std::lock_guard lock(mutex_);
        if (!first_ || (first_is_consequence_ && !consequence)) {
            first_ = std::current_exception();
            first_is_consequence_ = consequence;
            team_.abandon(rank, why);
        }
    }

    /// The rank has no thread.
    void miss(Rank rank, int count, const char* why) noexcept {
        try {
            throw Error(Errc::unsupported,
                        "rank " + std::to_string(rank) + " of " + std::to_string(count) +
                            " has no thread: " + why +
                            "; start fewer ranks, or raise the limit that is reached (" +
                            limits_of_threads() + ")",
                        {rank});
        } catch (const std::exception& error) { // It, or no memory to make it.
            give_up(rank, error.what());
        }
    }

    [[nodiscard]] std::exception_ptr first() const noexcept { return first_; }

private:
    ThreadTeam team_;
    const std::function<void(Team&)>* fn_;
    const TeamOptions* options_;
    std::mutex mutex_;
    std::exception_ptr first_;
    bool first_is_consequence_ = false;
};

TeamOptions with_cpus(int count, TeamOptions options) {
    if (options.pin && options.cpus.empty()) {
        const auto allowed = usable_cpus().allowed;
        for (int rank = 0; rank < count; ++rank) {
            options.cpus.push_back(allowed[static_cast<std::size_t>(rank) % allowed.size()]);
        }
    }
    return options;
}

} // namespace

void threads(int count, const std::function<void(Team&)>& fn, const TeamOptions& given) {
    if (!fn) {
        throw Error(Errc::invalid_argument, "threads: the function of the ranks is empty");
    }
    const TeamOptions options = with_cpus(count, given);
    Crew crew(count, fn, options);
    {
        const AffinityGuard guard; // The calling thread is rank 0 and may be bound meanwhile.
        std::vector<std::jthread> others;
        try {
            for (Rank rank = 1; rank < count; ++rank) {
                others.emplace_back([&crew, rank] { crew.live(rank); });
            }
        } catch (const std::exception& error) {
            crew.miss(static_cast<Rank>(others.size()) + 1, count, error.what());
        }
        crew.live(0);
    }
    if (crew.first()) {
        std::rethrow_exception(crew.first());
    }
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include "base/fork_count.hpp"
#include "base/limit_text.hpp"
#include "base/seconds_from.hpp"
#include "group/name_meeting.hpp"
#include "team/roster.hpp"
#include "team/team_shared.hpp"

#include <corymb/process.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace corymb {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t default_patience_ns = 60'000'000'000;
/// Between two looks of a process that waits for others. They come within milliseconds or are
/// seconds late.
constexpr std::chrono::microseconds longest_pause = 5ms;

std::int64_t patience_of(const AttachOptions& options) {
    if (options.patience.count() > 0) {
        return bounded_ns(options.patience);
    }
    return seconds_from("CORYMB_PATIENCE").value_or(default_patience_ns);
}

/// A number that `corymb run` has put into the environment.
std::optional<int> number_from(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) {
        return std::nullopt;
    }
    int value = 0;
    const std::string_view view(text);
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (error != std::errc{} || end != view.data() + view.size()) {
        throw Error(Errc::invalid_argument,
                    fmt::format("{} is '{}', which `corymb run` has not written; unset it",
                                variable, text));
    }
    return value;
}

/// Before anything is met or waited for.
void check(const AttachOptions& options) {
    const auto refuse = [](const std::string& text) {
        throw Error(Errc::invalid_argument, text);
    };
    if (!options.name.empty() && options.descriptor >= 0) {
        refuse("a team meets by name or by descriptor; give one of them");
    }
    if (!options.name.empty() && options.size < 1) {
        refuse("a team that meets by name needs its size (AttachOptions::size)");
    }
    if (!options.name.empty() && options.at_once) {
        refuse("a team that meets by name waits for the name; attach by a descriptor to attach at "
               "once (AttachOptions::at_once)");
    }
    if (options.descriptor < -1) {
        refuse(fmt::format("there is no descriptor {}; leave it out (-1) or give that of "
                           "make_team_descriptor",
                           options.descriptor));
    }
    if (options.size < 0 || options.ranks_here < 0) {
        refuse(fmt::format("size is {} and ranks_here {}; neither can be negative", options.size,
                           options.ranks_here));
    }
    if (options.rank < -1) {
        refuse(
            fmt::format("there is no rank {}; ranks count from 0, and -1 takes the next free one",
                        options.rank));
    }
    const std::int64_t last =
        std::int64_t{std::max(options.rank, 0)} + std::max(options.ranks_here, 1) - 1;
    if (options.size > 0 && last >= options.size) {
        refuse(fmt::format("rank {} is out of range; the team has ranks 0 to {}", last,
                           options.size - 1));
    }
    if (options.patience.count() < 0) {
        refuse("the patience is negative; give the longest time to wait for the other processes, "
               "or 0 for 60 seconds");
    }
    if (options.team.pin) {
        refuse("processes are not bound when they attach (TeamOptions::pin); bind them before, for "
               "example by `corymb run --bind` or taskset");
    }
    detail::check_options(options.team);
}

/// The team's memory and the ranks that this process brings, all defaults resolved.
struct Place {
    std::shared_ptr<SharedMemory> memory;
    Rank first;
    int count;
};

Place place_of(const AttachOptions& options, std::optional<group::NameMeeting>& meeting) {
    Place place{nullptr, options.rank, std::max(1, options.ranks_here)};
    if (!options.name.empty()) {
        meeting.emplace(
            options.name, group::Kind::team, options.size,
            [&options] { return team::make_team_memory(options.size); }, group::Holders::first,
            patience_of(options));
        place.memory = meeting->memory();
    } else if (options.descriptor >= 0) {
        place.memory = SharedMemory::open(options.descriptor);
    } else if (const auto descriptor = number_from("CORYMB_TEAM")) {
        place.memory = SharedMemory::open(*descriptor);
        // Programs that this one starts do not inherit it.
        ::fcntl(*descriptor, F_SETFD, FD_CLOEXEC);
        const int count = number_from("CORYMB_RANKS_HERE").value_or(1);
        if (options.ranks_here == 0) {
            place.count = count;
        }
        if (place.first < 0 && place.count == count) {
            place.first = number_from("CORYMB_FIRST_RANK").value_or(-1);
        }
        if (const auto launcher = number_from("CORYMB_LAUNCHER")) {
            // Where the kernel lets only parents look into a process, this lets the launcher's
            // other children do so, too.
            ::prctl(PR_SET_PTRACER, *launcher);
        }
    } else {
        throw Error(Errc::invalid_argument,
                    "there is no team to attach to: start the program with `corymb run -n 4 -- "
                    "program`, or give AttachOptions a name and a size, or a descriptor");
    }
    return place;
}

} // namespace

namespace detail {

/// What a process has of its team before all ranks are there.
struct Arriving {
    explicit Arriving(const AttachOptions& options);
    Arriving(const Arriving&) = delete;
    Arriving& operator=(const Arriving&) = delete;
    ~Arriving() {
        if (!is_over && forks == fork_count()) { // The others need not wait for this process.
            team::give_up(*company, first, count);
        }
    }

    /// Looks once; the team when all have theirs, else null.
    std::shared_ptr<TeamShared> look();

    std::optional<group::NameMeeting> meeting{};
    std::shared_ptr<team::Company> company = std::make_shared<team::Company>();
    TeamOptions options;
    Rank first = 0;
    int count = 0;
    bool is_over = false; ///< All have come, or one is known not to.
    std::optional<team::Arrival> arrival{};
    std::shared_ptr<TeamShared> shared{};
    std::uint32_t forks = fork_count();
};

Arriving::Arriving(const AttachOptions& options_) : options(options_.team) {
    const Place place = place_of(options_, meeting);
    count = place.count;
    company->memory = place.memory;
    company->roster = &team::roster_of(*place.memory);
    company->interrupted = options.interrupted;
    const int size = static_cast<int>(company->roster->size);
    if (options_.size != 0 && options_.size != size) {
        throw Error(
            Errc::invalid_argument,
            fmt::format("the team has {} ranks, AttachOptions::size says {}", size, options_.size));
    }
    check_cpus(options, size);
    if (options_.huge_pages) {
        const std::string refusal = place.memory->ask_for_huge_pages();
        company->notes += (refusal.empty() ? "huge pages where the kernel has them" : refusal);
        company->notes += "; ";
    }
    first = team::sign_in(*company, place.first, count);
    try {
        // From here on the other processes learn of every failure, also of wrong variables.
        options.deadline = std::chrono::nanoseconds(deadline_of(options));
        arrival.emplace(*company, first, count, patience_of(options_),
                        options_.at_once ? team::Arrival::Probe::brief
                                         : team::Arrival::Probe::patient);
    } catch (...) {
        team::give_up(*company, first, count);
        throw;
    }
}

std::shared_ptr<TeamShared> Arriving::look() try {
    if (shared == nullptr) {
        if (!arrival->has_met()) {
            return nullptr;
        }
        if (options.cpus.empty()) {
            options.cpus = company->cpu_of_rank;
        }
        shared = std::make_shared<TeamShared>(
            company->memory, Arena(*company->memory, company->roster->team),
            static_cast<int>(company->roster->size), options, company);
        shared->set_processes(*company->roster);
    }
    is_over = arrival->is_ready();
    return is_over ? shared : nullptr;
} catch (const Error& error) {
    is_over = error.code() == Errc::timeout || error.code() == Errc::team_broken;
    throw;
}

} // namespace detail

ProcessTeam::ProcessTeam(const AttachOptions& options) {
    check(options);
    arriving_ = std::make_shared<detail::Arriving>(options);
    first_ = arriving_->first;
    count_ = arriving_->count;
    if (options.at_once) {
        return;
    }
    for (auto pause = 50us; !try_meet(); pause = std::min(pause * 2, longest_pause)) {
        if (options.team.interrupted && options.team.interrupted()) {
            throw Error(Errc::interrupted, "attach was interrupted");
        }
        std::this_thread::sleep_for(pause);
    }
}

bool ProcessTeam::try_meet() {
    if (arriving_ == nullptr) {
        static_cast<void>(detail::own_team(shared_));
        return true;
    }
    check_not_forked(arriving_->forks);
    const auto arriving = std::move(arriving_); // After an exception there is no team.
    shared_ = arriving->look();
    if (shared_ == nullptr) {
        arriving_ = arriving;
    }
    return shared_ != nullptr;
}

detail::TeamShared& ProcessTeam::whole_team() const {
    if (arriving_ != nullptr) {
        check_not_forked(arriving_->forks);
        throw Error(Errc::invalid_argument,
                    "not all ranks of the team are there; call ProcessTeam::try_meet until it "
                    "returns true");
    }
    return detail::own_team(shared_);
}

int ProcessTeam::size() const noexcept {
    return shared_ == nullptr ? 0 : shared_->fabric.size();
}

Team ProcessTeam::join(Rank rank) {
    detail::TeamShared& shared = whole_team();
    if (rank < first_ || rank >= first_ + count_) {
        throw Error(Errc::invalid_argument,
                    fmt::format("rank {} is not of this process, which has ranks {} to {}", rank,
                                first_, first_ + count_ - 1));
    }
    shared.take(rank);
    return Team(shared_, rank);
}

void ProcessTeam::abandon(Rank rank, const std::string& why) {
    whole_team().abandon(rank, why);
}

std::string ProcessTeam::notes() const {
    return whole_team().company->notes;
}

Team Team::attach(const AttachOptions& options) {
    AttachOptions one = options;
    if (one.ranks_here > 1) {
        throw Error(Errc::invalid_argument,
                    fmt::format("Team::attach is for one rank, and ranks_here is {}; make a "
                                "ProcessTeam, and let each thread join it with its own rank",
                                one.ranks_here));
    }
    if (one.at_once) {
        throw Error(Errc::invalid_argument,
                    "Team::attach returns when all ranks are there; make a ProcessTeam to attach "
                    "at once (AttachOptions::at_once)");
    }
    one.ranks_here = one.ranks_here == 0 ? 1 : one.ranks_here;
    ProcessTeam team(one);
    return team.join(team.first_rank());
}

Team Team::attach() {
    return attach(AttachOptions{});
}

std::vector<Rank> absent_ranks(int descriptor) {
    const auto memory = SharedMemory::open(descriptor);
    team::Roster& roster = team::roster_of(*memory);
    std::vector<Rank> absent;
    for (Rank rank = 0; rank < static_cast<Rank>(roster.size); ++rank) {
        if (roster.entry(rank).stage.load(std::memory_order_relaxed) == 0) {
            absent.push_back(rank);
        }
    }
    return absent;
}

int make_team_descriptor(int size) {
    const auto memory = team::make_team_memory(size);
    const int descriptor = ::dup(memory->descriptor()); // Without close-on-exec.
    if (descriptor < 0) {
        throw Error(Errc::io,
                    "no descriptor for the team's memory can be had: " + reason_with_limit(errno));
    }
    return descriptor;
}

} // namespace corymb

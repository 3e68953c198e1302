// SPDX-License-Identifier: Apache-2.0
#include "base/limit_text.hpp"
#include "base/seconds_from.hpp"
#include "base/wait_clock.hpp"
#include "group/name_meeting.hpp"
#include "team/roster.hpp"
#include "team/team_shared.hpp"

#include <corymb/process.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

namespace corymb {

namespace {

constexpr std::int64_t default_patience_ns = 60'000'000'000;

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

ProcessTeam::ProcessTeam(const AttachOptions& options) {
    check(options);
    WaitClock clock;
    std::optional<group::NameMeeting> meeting;
    Place place = place_of(options, meeting);
    auto company = std::make_shared<team::Company>();
    company->memory = place.memory;
    company->roster = &team::roster_of(*place.memory);
    company->interrupted = options.team.interrupted;
    const int size = static_cast<int>(company->roster->size);
    if (options.size != 0 && options.size != size) {
        throw Error(
            Errc::invalid_argument,
            fmt::format("the team has {} ranks, AttachOptions::size says {}", size, options.size));
    }
    detail::check_cpus(options.team, size);
    if (options.huge_pages) {
        const std::string refusal = place.memory->ask_for_huge_pages();
        company->notes += (refusal.empty() ? "huge pages where the kernel has them" : refusal);
        company->notes += "; ";
    }
    count_ = place.count;
    first_ = team::sign_in(*company, place.first, count_);
    try {
        // From here on the other processes learn of every failure, also of wrong variables.
        const std::int64_t patience_ns = patience_of(options);
        TeamOptions its = options.team;
        its.deadline = std::chrono::nanoseconds(detail::deadline_of(its));
        team::meet(*company, first_, count_, clock, patience_ns);
        if (its.cpus.empty()) {
            its.cpus = company->cpu_of_rank;
        }
        shared_ = std::make_shared<detail::TeamShared>(
            place.memory, Arena(*place.memory, company->roster->team), size, its, company);
        shared_->set_processes(*company->roster);
        team::wait_until_ready(*company, first_, count_, clock, patience_ns);
    } catch (const Error& error) {
        if (error.code() != Errc::timeout && error.code() != Errc::team_broken) {
            team::give_up(*company, first_, count_);
        }
        throw;
    } catch (...) {
        team::give_up(*company, first_, count_);
        throw;
    }
}

int ProcessTeam::size() const noexcept {
    return shared_ == nullptr ? 0 : shared_->fabric.size();
}

Team ProcessTeam::join(Rank rank) {
    detail::TeamShared& shared = detail::own_team(shared_);
    if (rank < first_ || rank >= first_ + count_) {
        throw Error(Errc::invalid_argument,
                    fmt::format("rank {} is not of this process, which has ranks {} to {}", rank,
                                first_, first_ + count_ - 1));
    }
    shared.take(rank);
    return Team(shared_, rank);
}

void ProcessTeam::abandon(Rank rank, const std::string& why) {
    detail::own_team(shared_).abandon(rank, why);
}

std::string ProcessTeam::notes() const {
    return detail::own_team(shared_).company->notes;
}

Team Team::attach(const AttachOptions& options) {
    AttachOptions one = options;
    if (one.ranks_here > 1) {
        throw Error(Errc::invalid_argument,
                    fmt::format("Team::attach is for one rank, and ranks_here is {}; make a "
                                "ProcessTeam, and let each thread join it with its own rank",
                                one.ranks_here));
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

// SPDX-License-Identifier: Apache-2.0
#include "team/team_shared.hpp"

#include "base/one_user.hpp"

#include "base/clock.hpp"
#include "base/seconds_from.hpp"
#include "channel/look_once.hpp"
#include "channel/wait_ladder.hpp"
#include "team/team_plans.hpp"

#include <corymb/usable_cpus.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>
#include <thread>
#include <unistd.h>

namespace corymb::team {

std::uint64_t size_class(std::uint64_t bytes) noexcept {
    if (bytes <= exchange_payload_bytes) {
        return exchange_payload_bytes;
    }
    return bytes <= line_payload_bytes ? line_payload_bytes : std::bit_ceil(bytes);
}

std::uint64_t PlanKey::number() const noexcept {
    // Size classes differ in their width.
    return static_cast<std::uint64_t>(op) | (ordered ? 1u << 8 : 0u) |
           (keeps_parts ? 1u << 9 : 0u) | (reproducible ? 1u << 10 : 0u) |
           (root_first ? 1u << 11 : 0u) | (one_block ? 1u << 14 : 0u) | (stays ? 1u << 13 : 0u) |
           (short_channels ? 1u << 15 : 0u) |
           static_cast<std::uint64_t>(std::bit_width(bytes)) << 16 |
           static_cast<std::uint64_t>(root) << 32;
}

void check_one_block(const PlanKey& key, const Plan& plan) {
    if (key.one_block && plan.block_count > 1) {
        throw Error(Errc::invalid_plan, plan.algorithm +
                                            " cuts the payload of an operator that wants it whole; "
                                            "the plan source must look at PlanNeed::one_block");
    }
}

} // namespace corymb::team

namespace corymb::detail {

namespace {

constexpr std::int64_t default_deadline_ns = 300'000'000'000;

team::CpuCount cpus_of(const TeamOptions& options, const team::Company* company) {
    const std::set<int> named(options.cpus.begin(), options.cpus.end());
    if (company != nullptr) {
        const int all = static_cast<int>(named.empty() ? company->cpus.size() : named.size());
        return {std::max(all, 1), named.empty() ? company->usable : std::min(company->usable, all)};
    }
    // The calling thread may be bound to one CPU already, its teammates to others.
    UsableCpus own = usable_cpus();
    if (!named.empty()) {
        own.allowed.assign(named.begin(), named.end());
    }
    return {std::max(static_cast<int>(own.allowed.size()), 1), own.count()};
}

/// More than the largest number that a CPU can have.
std::size_t configured_cpus() {
    return static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

} // namespace

std::int64_t deadline_of(const TeamOptions& options) {
    if (options.deadline.count() > 0) {
        return bounded_ns(options.deadline);
    }
    return seconds_from("CORYMB_DEADLINE").value_or(default_deadline_ns);
}

void check_options(const TeamOptions& options) {
    if (options.deadline.count() < 0) {
        throw Error(Errc::invalid_argument, "TeamOptions::deadline is negative; give the longest "
                                            "wait, or 0 for the default of 5 minutes");
    }
    if (options.interrupted_every.count() < 0) {
        throw Error(Errc::invalid_argument, "TeamOptions::interrupted_every is negative; give the "
                                            "first interval, or 0 for the usual ones");
    }
    if (options.ranks_per_cpu < 0) {
        throw Error(Errc::invalid_argument,
                    "TeamOptions::ranks_per_cpu is " + std::to_string(options.ranks_per_cpu) +
                        "; it counts the ranks that take turns on a CPU, 0 if those of the team");
    }
}

void check_cpus(const TeamOptions& options, int size) {
    if (!options.cpus.empty() && options.cpus.size() != static_cast<std::size_t>(size)) {
        throw Error(Errc::invalid_argument, "TeamOptions::cpus names " +
                                                std::to_string(options.cpus.size()) +
                                                " CPUs for a team of " + std::to_string(size) +
                                                "; give one a rank or none");
    }
}

namespace {

/// Throws Errc::invalid_argument where the options contradict each other or the size.
TeamOptions checked(TeamOptions options, int size) {
    check_options(options);
    check_cpus(options, size);
    return options;
}

} // namespace

TeamShared::TeamShared(std::shared_ptr<Memory> where, const Arena& arena, int size,
                       const TeamOptions& given, std::shared_ptr<team::Company> others)
    : memory(std::move(where)), company(std::move(others)),
      cpus(cpus_of(checked(given, size), company.get())), others_per_cpu(given.ranks_per_cpu),
      oversubscribed(size > cpus.usable || others_per_cpu > 1),
      fabric(arena, size, 0, team::fencing_of(oversubscribed)),
      record(fabric.arena().find_or_make<team::TeamRecord>(
          {static_cast<std::uint32_t>(team::Kind::record)})),
      options(given), plans_given(static_cast<bool>(given.plans)), deadline_ns(deadline_of(given)),
      own_pid_(static_cast<std::uint32_t>(::getpid())),
      taken_(static_cast<std::size_t>(size), false) {
    if (oversubscribed && !has_strangers()) {
        const auto ranks = static_cast<std::size_t>(size);
        const std::size_t places = configured_cpus();
        crowd = fabric.arena().find_or_make_sized<channel::Crowd>(
            {static_cast<std::uint32_t>(team::Kind::crowd)}, channel::Crowd::bytes(ranks, places),
            [&](void* place) { new (place) channel::Crowd(ranks, places); });
    }
    if (!oversubscribed) {
        cpus_of_waiters = &channel::WaiterCpus::of(fabric.arena());
    }
    team::DefaultPlans made;
    if (!plans_given) {
        made = team::default_plans(
            options,
            {size, !company || company->pull, !company || company->push, cpus.usable,
             company ? company->copies : KernelCopy{}, company ? company->cells_gbs : 0,
             company ? company->own_gbs : 0, company ? company->cpus : std::vector<int>{}});
        inside = made.inside;
    }
    plans = std::make_unique<TeamPlans>(*this, std::move(made));
}

TeamShared::~TeamShared() {
    if (is_parents()) {
        static_cast<void>(plans.release()); // The searching thread is the parent's.
        return;
    }
    plans.reset();
    if (company) {
        company->watch.look();
    }
    change_if_possible(*memory, [this] {
        bool is_last = true;
        for (Rank rank = 0; rank < fabric.size(); ++rank) {
            auto& state = fabric.state(rank);
            if (!is_elsewhere(rank)) {
                state.left = 1;
            }
            is_last = is_last && (state.left != 0 || company->watch.has_ended(state.pid));
        }
        if (is_last) {
            fabric.arena().drop_locked();
        }
    });
}

TeamShared& own_team(const std::shared_ptr<TeamShared>& shared) {
    if (shared == nullptr) {
        refuse_empty("team", "it was moved from");
    }
    shared->require_own_process();
    return *shared;
}

team::Failure TeamShared::fail(const team::Failure& failure) {
    {
        const std::lock_guard lock(*memory);
        if (record.failure == 0) {
            record.failure = team::write_failure(fabric.arena(), failure);
            channel::WaitLadder::end_waits(record.broken);
        }
    }
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        fabric.state(rank).spot.wake_if_parked();
    }
    return this->failure();
}

void TeamShared::abandon(Rank rank, const std::string& why) {
    fail({Errc::team_broken, "rank " + std::to_string(rank) + " gave up: " + why, {rank}});
}

team::Failure TeamShared::failure() const {
    team::Failure known;
    {
        const std::lock_guard lock(*memory);
        if (record.failure != 0) {
            known = team::read_failure(*memory, record.failure);
        }
    }
    const std::lock_guard lock(mutex_);
    known.text += late_writes_;
    return known;
}

void TeamShared::throw_failure() const {
    const team::Failure known = failure();
    throw Error(known.code, known.text, known.ranks);
}

void TeamShared::throw_broken() const {
    const team::Failure known = failure();
    throw Error(Errc::team_broken, "the team is broken: " + known.text + "; make a new team",
                known.ranks);
}

void TeamShared::wait_for_copies() noexcept {
    channel::CopyGate<team::Env>::drain_begin(company ? Reach::machine : Reach::process);
    channel::LookOnce once;
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        while (!is_elsewhere(rank) && !fabric.state(rank).gate.drain(once)) {
            std::this_thread::yield(); // A copy under way surely ends soon.
        }
    }
    // A reader looks for a failure after its copy, so only writes are awaited.
    if (company && company->push) {
        wait_for_writes_elsewhere();
    }
}

std::vector<int> TeamShared::missing(std::uint64_t operation) {
    std::vector<int> ranks;
    for (Rank rank = 0; rank < fabric.size(); ++rank) {
        if (fabric.state(rank).started.load(std::memory_order_relaxed) < operation) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

std::shared_ptr<TeamShared> TeamShared::part(Offset arena, const std::vector<Rank>& ranks,
                                             Rest rest) {
    const std::lock_guard lock(mutex_);
    auto& known = parts_[arena];
    auto found = known.lock();
    if (!found) {
        TeamOptions its = options;
        if (rest == Rest::goes_on) {
            its.ranks_per_cpu = ranks_per_cpu();
        }
        if (!plans_given) {
            its.plans = nullptr; // The default depends on the members' CPUs.
        }
        if (!options.cpus.empty()) {
            its.cpus.clear();
            for (const Rank rank : ranks) {
                its.cpus.push_back(options.cpus[static_cast<std::size_t>(rank)]);
            }
        }
        found = std::make_shared<TeamShared>(memory, Arena(*memory, arena),
                                             static_cast<int>(ranks.size()), its, company);
        known = found;
    }
    std::erase_if(parts_, [](const auto& entry) { return entry.second.expired(); });
    return found;
}

std::shared_ptr<TeamShared> TeamShared::successor(const std::vector<Rank>& ranks) {
    auto found = part(record.successor, ranks, Rest::has_gone);
    const std::lock_guard lock(mutex_);
    if (!successor_) {
        successor_ = found;
        successor_waits_for_ = std::count_if(ranks.begin(), ranks.end(),
                                             [this](Rank rank) { return !is_elsewhere(rank); });
    }
    if (--successor_waits_for_ == 0) {
        successor_.reset();
    }
    return found;
}

void TeamShared::take(Rank rank) {
    const std::lock_guard lock(mutex_);
    if (rank < 0 || rank >= fabric.size()) {
        throw Error(Errc::invalid_argument, "rank " + std::to_string(rank) +
                                                " is out of range; the team has ranks 0 to " +
                                                std::to_string(fabric.size() - 1));
    }
    if (taken_[static_cast<std::size_t>(rank)]) {
        throw Error(Errc::invalid_argument,
                    "rank " + std::to_string(rank) + " has already joined the team");
    }
    taken_[static_cast<std::size_t>(rank)] = true;
}

} // namespace corymb::detail

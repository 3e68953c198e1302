// SPDX-License-Identifier: Apache-2.0
// Questions of a rank to its team.
#include "c/calls.hpp"
#include "c/give_back.hpp"
#include "c/handles.hpp"
#include "c/known_options.hpp"
#include "c/numbers.hpp"
#include "c/text.hpp"
#include "team/member.hpp"

#include <corymb/detail/untyped.hpp>
#include <corymb/plan.hpp>
#include <corymb/usable_cpus.hpp>
#include <corymb/version.hpp>

#include <algorithm>

using namespace corymb;

namespace {

static_assert(CORYMB_EXSCAN == static_cast<int>(Collective::exscan));
static_assert(CORYMB_GATHER == static_cast<int>(Collective::gather));

} // namespace

const char* corymb_version(void) noexcept {
    return version();
}

int corymb_usable_cpus(void) noexcept {
    int count = 1;
    c::guarded([&] { count = usable_cpus().count(); });
    return count;
}

std::int64_t c::number_of(const corymb_team* team, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(team)) {
        return otherwise;
    }
    return number == CORYMB_NUMBER_RANK   ? team->team.rank()
           : number == CORYMB_NUMBER_SIZE ? team->team.size()
                                          : otherwise;
}

std::size_t c::memory_of(const corymb_team* team) {
    return live(team).team.memory();
}

corymb_status corymb_team_notes(const corymb_team* team, char** text) noexcept {
    return c::guarded([&] {
        c::require(text, "corymb_team_notes: text");
        *text = nullptr;
        const detail::Member& member = detail::Untyped::member(c::live(team).team);
        member.user.require_own_process();
        const auto& company = member.shared->company;
        *text = c::new_text(company ? company->notes : "");
    });
}

corymb_status corymb_team_split(corymb_team* team, int color, int key,
                                corymb_team** part) noexcept {
    return c::guarded([&] {
        c::require(part, "corymb_team_split: part");
        *part = nullptr;
        *part = c::make_handle(c::live(team).team.split(color, key));
    });
}

corymb_status corymb_team_shrink(corymb_team* team, corymb_team** survivors) noexcept {
    return c::guarded([&] {
        c::require(survivors, "corymb_team_shrink: survivors");
        *survivors = nullptr;
        *survivors = c::make_handle(c::live(team).team.shrink());
    });
}

corymb_status corymb_team_abandon(corymb_team* team, const char* why) noexcept {
    return c::guarded(
        [&] { c::live(team).team.abandon(why != nullptr ? why : "it gave no reason"); });
}

corymb_status corymb_team_set_deadline(corymb_team* team, int64_t deadline_ns) noexcept {
    return c::guarded([&] {
        Team& own = c::live(team).team;
        CallLimits limits = own.limits();
        limits.deadline = c::time_of(deadline_ns, "corymb_team_set_deadline: deadline_ns");
        own.set_limits(limits);
    });
}

void c::give_back(corymb_team*& team) {
    corymb_team& handle = c::live(team);
    if (handle.is_of_threads) {
        c::refuse("corymb_team_free: corymb_threads gives this handle back itself");
    }
    const OneUser& user = detail::Untyped::member(handle.team).user;
    if (user.is_busy() && !user.is_inherited()) {
        c::refuse("corymb_team_free: the team is in use, by another thread or by a call that "
                  "runs what frees it");
    }
    team = nullptr;
    c::free_handle(handle);
}

corymb_status corymb_team_warm_up(corymb_team* team, corymb_collective op, uint64_t bytes, int root,
                                  int ordered) noexcept {
    return c::guarded([&] { c::live(team).team.warm_up(c::op_of(op), bytes, root, ordered != 0); });
}

corymb_status corymb_team_statistics(corymb_team* team, corymb_statistics* statistics,
                                     int64_t* waited_for_ns, size_t room) noexcept {
    return c::guarded([&] {
        const Team& own = c::live(team).team;
        c::require(statistics, "corymb_team_statistics: statistics");
        static_cast<void>(c::as_known(*statistics, "corymb_statistics_init"));
        if (room > 0) {
            c::require(waited_for_ns, "corymb_team_statistics: waited_for_ns");
        }
        const TeamStatistics all = own.statistics();
        statistics->operations = all.operations;
        statistics->bytes = all.bytes;
        statistics->waits = all.waits;
        statistics->sleeps = all.sleeps;
        statistics->waited_ns = all.waited.count();
        for (std::size_t rank = 0; rank < std::min(room, all.waited_for.size()); ++rank) {
            waited_for_ns[rank] = all.waited_for[rank].count();
        }
    });
}

corymb_status corymb_plan_json(corymb_team* team, corymb_collective op, uint64_t bytes, int root,
                               char** text) noexcept {
    return c::guarded([&] {
        c::require(text, "corymb_plan_json: text");
        *text = nullptr;
        *text = c::new_text(to_json(c::live(team).team.plan(c::op_of(op), bytes, root)));
    });
}

corymb_status corymb_team_plans(const corymb_team* team, corymb_plan_visitor visit,
                                void* context) noexcept {
    return c::guarded([&] { c::tell_plans(c::live(team).team.chosen_plans(), visit, context); });
}

// SPDX-License-Identifier: Apache-2.0
// Teams of processes.
#include "c/give_back.hpp"
#include "c/handles.hpp"
#include "c/options.hpp"

#include <corymb/process.hpp>

#include <algorithm>
#include <utility>

using namespace corymb;

corymb_status corymb_attach(const corymb_attach_options* options, corymb_team** team) noexcept {
    return c::guarded([&] {
        c::require(team, "corymb_attach: team");
        *team = nullptr;
        *team = c::make_handle(Team::attach(c::attach_options(options)));
    });
}

corymb_status corymb_process_team_create(const corymb_attach_options* options,
                                         corymb_process_team** team) noexcept {
    return c::guarded([&] {
        c::require(team, "corymb_process_team_create: team");
        *team = nullptr;
        ProcessTeam made(c::attach_options(options));
        corymb_process_team& handle = c::AllSlots<corymb_process_team>::take();
        handle.team.emplace(std::move(made));
        *team = &handle;
    });
}

corymb_status corymb_process_team_try_meet(corymb_process_team* team, int* met) noexcept {
    return c::guarded([&] {
        c::require(met, "corymb_process_team_try_meet: met");
        *met = 0;
        *met = c::live(team).team->try_meet() ? 1 : 0;
    });
}

corymb_status corymb_process_team_ranks(const corymb_process_team* team, int* first,
                                        int* count) noexcept {
    return c::guarded([&] {
        c::require(first, "corymb_process_team_ranks: first");
        c::require(count, "corymb_process_team_ranks: count");
        *first = c::live(team).team->first_rank();
        *count = team->team->ranks_here();
    });
}

corymb_status corymb_process_team_join(corymb_process_team* team, int rank,
                                       corymb_team** joined) noexcept {
    return c::guarded([&] {
        c::require(joined, "corymb_process_team_join: joined");
        *joined = nullptr;
        *joined = c::make_handle(c::live(team).team->join(rank));
    });
}

corymb_status corymb_process_team_abandon(corymb_process_team* team, int rank,
                                          const char* why) noexcept {
    return c::guarded(
        [&] { c::live(team).team->abandon(rank, why != nullptr ? why : "it gave no reason"); });
}

void c::give_back(corymb_process_team*& team) {
    corymb_process_team& handle = c::live(team);
    team = nullptr;
    handle.team.reset();
    c::AllSlots<corymb_process_team>::give_back(handle);
}

corymb_status corymb_make_team_descriptor(int size, int* descriptor) noexcept {
    return c::guarded([&] {
        c::require(descriptor, "corymb_make_team_descriptor: descriptor");
        *descriptor = -1;
        *descriptor = make_team_descriptor(size);
    });
}

corymb_status corymb_absent_ranks(int descriptor, int* ranks, size_t room, size_t* count) noexcept {
    return c::guarded([&] {
        c::require(count, "corymb_absent_ranks: count");
        if (room != 0) {
            c::require(ranks, "corymb_absent_ranks: ranks");
        }
        const auto absent = absent_ranks(descriptor);
        std::copy_n(absent.begin(), std::min(room, absent.size()), ranks);
        *count = absent.size();
    });
}

// SPDX-License-Identifier: Apache-2.0
#include "communicator/group.hpp"

#include "below/library.hpp"
#include "communicator/leaving.hpp"
#include "communicator/parked_teams.hpp"
#include "requests/attempts.hpp"
#include "requests/requests.hpp"

#include <atomic>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace corymb::mpi {

namespace {

/// All groups of the process. Never destroyed: MPI may call back while the process ends.
struct Registry {
    std::mutex lock;
    std::unordered_set<Group*> groups;
    int key = 0;
    bool has_key = false;
    std::atomic<bool> is_over{false};
};

Registry& registry() {
    static auto* const one = new Registry;
    return *one;
}

/// Nobody uses the group any more. Its team others may go on with.
void give_back(Group& group) noexcept {
    keep_early_time(group);
    forget_attempts(group);
    go_on_without(group);
    if (!registry().is_over.load(std::memory_order_acquire)) {
        park(group);
    }
    // If an operation has failed, its messages may lie in the communicators, and then MPICH frees
    // none.
    end_team(group, !group.has_failed.load(std::memory_order_relaxed));
}

int forget(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) noexcept {
    auto* const group = static_cast<Group*>(value);
    Registry& all = registry();
    {
        const std::lock_guard lock(all.lock);
        group_generation.fetch_add(1, std::memory_order_release);
    }
    keep_for_summary(*group); // While the communicator has a name.
    if (add(group->references, 1, std::memory_order_acq_rel) != 0) {
        return MPI_SUCCESS;
    }
    {
        const std::lock_guard lock(all.lock);
        all.groups.erase(group);
    }
    give_back(*group);
    delete group;
    return MPI_SUCCESS;
}

int key() noexcept {
    Registry& all = registry();
    const std::lock_guard lock(all.lock);
    if (!all.has_key) {
        all.has_key =
            host().Comm_create_keyval(&do_not_copy, &forget, &all.key, nullptr) == MPI_SUCCESS;
    }
    return all.key;
}

/// Whether all members are processes of MPI_COMM_WORLD, which all run with this adapter.
bool is_within_world(MPI_Comm comm, int size) {
    const Host& mpi = host();
    MPI_Group members{};
    MPI_Group world{};
    if (mpi.Comm_group(comm, &members) != MPI_SUCCESS) {
        return false;
    }
    mpi.Comm_group(mpi.comm_world, &world);
    std::vector<int> here(static_cast<std::size_t>(size));
    std::vector<int> there(here.size());
    std::iota(here.begin(), here.end(), 0);
    mpi.Group_translate_ranks(members, size, here.data(), world, there.data());
    mpi.Group_free(&members);
    mpi.Group_free(&world);
    for (const int rank : there) {
        if (rank == MPI_UNDEFINED) {
            return false;
        }
    }
    return true;
}

void pass(Group& group, Reason reason) {
    group.state = Group::State::passed;
    group.reason = reason;
    group.is_watched = is_explaining();
}

void ask_for_threads() noexcept {
    int level = MPI_THREAD_MULTIPLE;
    host().Query_thread(&level);
    many_threads.store(level == MPI_THREAD_MULTIPLE);
    if (has_had_sessions()) { // A session that begins meanwhile sets the flag before it asks.
        many_threads.store(true);
    }
}

bool is_world_over() noexcept {
    int finalised = 1;
    return host().Finalized(&finalised) != MPI_SUCCESS || finalised != 0;
}

Group* make_group(MPI_Comm comm) {
    const Host& mpi = host();
    auto group = std::make_unique<Group>();
    int is_between_groups = 0;
    group->comm = comm;
    const bool has_world = is_world_usable();
    if (has_world) {
        watch_for_the_end();
        ask_for_threads();
    }
    group->is_shared = has_many_threads();
    if (mpi.Comm_test_inter(comm, &is_between_groups) != MPI_SUCCESS) {
        return nullptr;
    }
    mpi.Comm_size(comm, &group->size);
    mpi.Comm_rank(comm, &group->rank);
    if (is_between_groups != 0) {
        pass(*group, Reason::between_groups);
    } else if (group->size == 1) {
        pass(*group, Reason::alone);
    } else if (has_world && !is_within_world(comm, group->size)) {
        pass(*group, Reason::beyond_world);
    }
    Registry& all = registry();
    const int attribute = key();
    {
        const std::lock_guard lock(all.lock);
        all.groups.insert(group.get());
    }
    if (mpi.Comm_set_attr(comm, attribute, group.get()) != MPI_SUCCESS) {
        const std::lock_guard lock(all.lock);
        all.groups.erase(group.get());
        return nullptr;
    }
    return group.release();
}

/// Before MPI_Init, too, where a session is open: other ranks of its communicator may have called
/// MPI_Init already, and all are to count its calls alike. Such communicators are of the world.
bool is_usable() noexcept {
    return host().whole && !registry().is_over.load(std::memory_order_acquire) &&
           (is_world_usable() || (has_sessions() && !is_world_over()));
}

/// Held, so that it stays when the MPI frees its communicator while it gives back its team, which
/// is not to be under the lock therefore. Null: there is none left.
Group* next_to_give_back(bool all_but_with_requests) noexcept {
    Registry& all = registry();
    const std::lock_guard lock(all.lock);
    for (Group* const group : all.groups) {
        const bool has_requests = group->references.load(std::memory_order_relaxed) > 1;
        if (!group->is_given_back && !(all_but_with_requests && has_requests)) {
            group->is_given_back = true;
            hold(*group);
            return group;
        }
    }
    return nullptr;
}

} // namespace

int do_not_copy(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* /*value*/, void* /*copy*/,
                int* flag) noexcept {
    *flag = 0;
    return MPI_SUCCESS;
}

bool is_world_usable() noexcept {
    int initialised = 0;
    return host().Initialized(&initialised) == MPI_SUCCESS && initialised != 0 && !is_world_over();
}

void forget_key() noexcept {
    Registry& all = registry();
    const std::lock_guard lock(all.lock);
    all.has_key = false;
    group_generation.fetch_add(1, std::memory_order_release);
}

void give_back_team(Group& group) noexcept {
    forget_attempts(group);
    go_on_without(group);
    end_team(group, false);
}

void end_team(RankTeam& team, bool all) noexcept {
    team.kept.forget();
    if (team.team != nullptr) {
        library().team_free(&team.team);
    }
    if (team.cluster != nullptr) {
        library().cluster_team_free(&team.cluster);
    }
    team.board.reset(); // Waits of the team ask it.
    if (team.id != 0) {
        host().Group_free(&team.members);
        team.id = 0;
    }
    if (team.carrier != nullptr && all) {
        team.carrier->free_communicators();
    }
}

void abandon(Group& group, const char* why) noexcept {
    group.has_failed.store(true, std::memory_order_relaxed);
    if (group.cluster != nullptr) {
        library().cluster_team_abandon(group.cluster, why);
    } else {
        library().team_abandon(group.team, why);
    }
}

void let_go(Group& group) noexcept {
    if (add(group.references, -2, std::memory_order_acq_rel) != 3) {
        return;
    }
    Registry& all = registry();
    {
        const std::lock_guard lock(all.lock);
        all.groups.erase(&group);
    }
    give_back(group);
    delete &group;
}

Group* find_group(MPI_Comm comm) noexcept {
    const std::uint64_t now = group_generation.load(std::memory_order_acquire);
    if (comm == host().comm_null || Leaving::has(comm) || !is_usable()) {
        return nullptr;
    }
    void* found = nullptr;
    int has_one = 0;
    if (host().Comm_get_attr(comm, key(), &found, &has_one) != MPI_SUCCESS) {
        return nullptr;
    }
    Group* group = static_cast<Group*>(found);
    if (has_one == 0) {
        try {
            group = make_group(comm);
        } catch (const std::exception&) {
            return nullptr;
        }
    }
    if (group != nullptr) {
        last_group = {now, comm, group};
    }
    return group;
}

void give_back_teams(bool all_but_with_requests) noexcept {
    Registry& all = registry();
    all.is_over.store(true, std::memory_order_release);
    group_generation.fetch_add(1, std::memory_order_release);
    while (Group* const group = next_to_give_back(all_but_with_requests)) {
        if (!is_orphan(*group)) {
            keep_for_summary(*group);
        }
        give_back_team(*group); // MPI frees the communicators of carriers itself.
        group->state = Group::State::passed;
        let_go(*group);
    }
    end_parked();
    const std::lock_guard lock(all.lock);
    for (Group* const group : all.groups) {
        if (!group->is_given_back && !is_orphan(*group)) {
            keep_for_summary(*group);
        }
    }
}

int team_count() noexcept {
    Registry& all = registry();
    const std::lock_guard lock(all.lock);
    int count = 0;
    for (const Group* const group : all.groups) {
        count += group->team != nullptr || group->cluster != nullptr ? 1 : 0;
    }
    return count + parked_count();
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
#include "communicator/communicator.hpp"

#include "below/library.hpp"
#include "communicator/being_freed.hpp"
#include "communicator/early_steps.hpp"
#include "communicator/kept_teams.hpp"
#include "communicator/sessions.hpp"

#include <atomic>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace corymb::mpi {

namespace {

/// All communicators of the process. Never destroyed: MPI may call back while the process ends.
struct Registry {
    std::mutex lock;
    std::unordered_set<Communicator*> communicators;
    int key = 0;
    bool has_key = false;
    std::atomic<bool> is_over{false};
};

Registry& registry() {
    static auto* const one = new Registry;
    return *one;
}

void forget_requests_of(Communicator& communicator) noexcept {
    const auto forget = communicator.forget_requests.exchange(nullptr, std::memory_order_acq_rel);
    if (forget != nullptr) {
        forget(communicator);
    }
}

/// Nobody uses the communicator any more. Others may go on with its team.
void give_back(Communicator& communicator) noexcept {
    forget_requests_of(communicator);
    const bool has_counted = communicator.early.wanted_ns() > 0 || communicator.steps->board;
    if (communicator.state == Communicator::State::early && !communicator.has_requests_on_team &&
        has_counted) {
        earlier_ns(communicator.early)
            .fetch_add(
                communicator.early.time_ns(communicator.early_requests, communicator.early_sample),
                std::memory_order_relaxed);
    }
    communicator.steps->end();
    if (!registry().is_over.load(std::memory_order_acquire)) {
        keep_team(communicator);
    }
    // If an operation has failed, its messages may lie in the communicators, and then MPICH frees
    // none.
    end_team(communicator, !communicator.has_failed.load(std::memory_order_relaxed));
}

int forget(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*extra*/) noexcept {
    auto* const communicator = static_cast<Communicator*>(value);
    Registry& all = registry();
    {
        const std::lock_guard lock(all.lock);
        communicator_generation.fetch_add(1, std::memory_order_release);
    }
    keep_for_summary(*communicator); // While the communicator has a name.
    wait_for_question(*communicator->steps);
    if (add(communicator->references, 1, std::memory_order_acq_rel) != 0) {
        return MPI_SUCCESS;
    }
    {
        const std::lock_guard lock(all.lock);
        all.communicators.erase(communicator);
    }
    give_back(*communicator);
    delete communicator;
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

void pass(Communicator& communicator, Reason reason) {
    communicator.state = Communicator::State::passed;
    communicator.reason = reason;
    communicator.is_watched = is_explaining();
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

Communicator* make_communicator(MPI_Comm comm) {
    const Host& mpi = host();
    auto communicator = std::make_unique<Communicator>();
    int is_between_groups = 0;
    communicator->comm = comm;
    const bool has_world = is_world_usable();
    if (has_world) {
        if (const auto watch = watch_for_the_end.load(); watch != nullptr) {
            watch();
        }
        ask_for_threads();
    }
    communicator->is_shared = has_many_threads();
    if (mpi.Comm_test_inter(comm, &is_between_groups) != MPI_SUCCESS) {
        return nullptr;
    }
    mpi.Comm_size(comm, &communicator->size);
    mpi.Comm_rank(comm, &communicator->rank);
    if (is_between_groups != 0) {
        pass(*communicator, Reason::between_groups);
    } else if (communicator->size == 1) {
        pass(*communicator, Reason::alone);
    } else if (has_world && !is_within_world(comm, communicator->size)) {
        pass(*communicator, Reason::beyond_world);
    }
    Registry& all = registry();
    const int attribute = key();
    {
        const std::lock_guard lock(all.lock);
        all.communicators.insert(communicator.get());
    }
    if (mpi.Comm_set_attr(comm, attribute, communicator.get()) != MPI_SUCCESS) {
        const std::lock_guard lock(all.lock);
        all.communicators.erase(communicator.get());
        return nullptr;
    }
    return communicator.release();
}

/// Before MPI_Init, too, where a session is open: other ranks of its communicator may have called
/// MPI_Init already, and all are to count its calls alike. Such communicators are of the world.
bool is_usable() noexcept {
    return host().whole && !registry().is_over.load(std::memory_order_acquire) &&
           (is_world_usable() || (has_sessions() && !is_world_over()));
}

/// Held, so that it stays when the MPI frees its communicator while it gives back its team, which
/// is not to be under the lock therefore. Null: there is none left.
Communicator* next_to_give_back(bool all_but_with_requests) noexcept {
    Registry& all = registry();
    const std::lock_guard lock(all.lock);
    for (Communicator* const communicator : all.communicators) {
        const bool has_requests = communicator->references.load(std::memory_order_relaxed) > 1;
        if (!communicator->is_given_back && !(all_but_with_requests && has_requests)) {
            communicator->is_given_back = true;
            hold(*communicator);
            return communicator;
        }
    }
    return nullptr;
}

} // namespace

Communicator::Communicator() : steps(std::make_unique<EarlySteps>()) {}

Communicator::~Communicator() = default;

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
    communicator_generation.fetch_add(1, std::memory_order_release);
}

void give_back_team(Communicator& communicator) noexcept {
    forget_requests_of(communicator);
    end_team(communicator, false);
}

void end_team(RankTeam& team, bool all) noexcept {
    team.kept.forget();
    if (team.team != nullptr) {
        give_back(CORYMB_HANDLE_TEAM, team.team);
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

void abandon(Communicator& communicator, const char* why) noexcept {
    communicator.has_failed.store(true, std::memory_order_relaxed);
    library().team_abandon(communicator.team, why);
}

void let_go(Communicator& communicator) noexcept {
    if (add(communicator.references, -2, std::memory_order_acq_rel) != 3) {
        return;
    }
    Registry& all = registry();
    {
        const std::lock_guard lock(all.lock);
        all.communicators.erase(&communicator);
    }
    give_back(communicator);
    delete &communicator;
}

Communicator* find_communicator(MPI_Comm comm) noexcept {
    const std::uint64_t now = communicator_generation.load(std::memory_order_acquire);
    if (comm == host().comm_null || BeingFreed::has(comm) || !is_usable()) {
        return nullptr;
    }
    void* found = nullptr;
    int has_one = 0;
    if (host().Comm_get_attr(comm, key(), &found, &has_one) != MPI_SUCCESS) {
        return nullptr;
    }
    Communicator* communicator = static_cast<Communicator*>(found);
    if (has_one == 0) {
        try {
            communicator = make_communicator(comm);
        } catch (const std::exception&) {
            return nullptr;
        }
    }
    if (communicator != nullptr) {
        last_communicator = {now, comm, communicator};
    }
    return communicator;
}

void give_back_teams(bool all_but_with_requests) noexcept {
    Registry& all = registry();
    all.is_over.store(true, std::memory_order_release);
    communicator_generation.fetch_add(1, std::memory_order_release);
    while (Communicator* const communicator = next_to_give_back(all_but_with_requests)) {
        if (!is_orphan(*communicator)) {
            keep_for_summary(*communicator);
        }
        wait_for_question(*communicator->steps);
        communicator->steps->end();
        give_back_team(*communicator); // MPI frees the communicators of carriers itself.
        communicator->state = Communicator::State::passed;
        communicator->has_requests_on_team = false;
        let_go(*communicator);
    }
    end_kept_teams();
    const std::lock_guard lock(all.lock);
    for (Communicator* const communicator : all.communicators) {
        if (!communicator->is_given_back && !is_orphan(*communicator)) {
            keep_for_summary(*communicator);
        }
    }
}

int team_count() noexcept {
    Registry& all = registry();
    const std::lock_guard lock(all.lock);
    int count = 0;
    for (const Communicator* const communicator : all.communicators) {
        count += communicator->team != nullptr ? 1 : 0;
    }
    return count + kept_team_count();
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator get a team, or agree that they have none. Nothing is guessed from
// names: rank 0 makes a segment, everybody maps it, and a random number goes through it. Every step
// ends with an agreement through the MPI below, so that no rank is left alone with its opinion.
#include "agreement/team.hpp"

#include "agreement/agree.hpp"
#include "agreement/steps.hpp"
#include "agreement/trials.hpp"
#include "below/bypass.hpp"
#include "below/clock.hpp"
#include "below/hook.hpp"
#include "below/library.hpp"
#include "below/mpi_progress.hpp"
#include "below/node_ranks.hpp"
#include "below/open_work.hpp"
#include "below/tuning.hpp"
#include "communicator/board_memory.hpp"
#include "communicator/early_steps.hpp"
#include "communicator/kept_teams.hpp"
#include "policy/tuning.hpp"
#include "requests/progress_thread.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace corymb::mpi {

namespace {

/// Each has an address range of the machine's size mapped.
constexpr int teams_max = 64;
/// MPI has no deadlines; a peer that dies is noticed without one.
constexpr std::int64_t no_deadline_ns = std::int64_t{1} << 61;

/// A process has libcorymb and its plans once it has had a team.
std::atomic<bool> has_had_team{false};

/// True: no rank has said anything against it.
bool agree_on(MPI_Comm comm, Terms& terms) {
    Agreement agreement;
    terms.ask(agreement);
    if (!agree(agreement, comm)) {
        object(terms.objections, Objection::not_attached);
    }
    return terms.objections == 0;
}

/// Whether the MPI keeps the CPU of a rank while it waits: the least time of a CPU that some calls
/// take, which all ranks make. A rank that comes late makes one take long.
bool keeps_cpus(MPI_Comm comm) {
    constexpr int calls = 3;
    std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < calls; ++i) {
        const std::int64_t begin = thread_ns();
        host().Barrier(comm);
        least_ns = std::min(least_ns, thread_ns() - begin);
    }
    return least_ns > tuning::crowded_call_most_ns;
}

void try_nothing(RankTeam& team) noexcept {
    team.choice.give_to_corymb();
    team.request_choice.give_to_corymb();
    team.sync_points.end();
}

/// Whether there is no room for a team, after unused teams have made way.
bool has_no_room() noexcept {
    end_kept_teams();
    return team_count() >= teams_max;
}

/// Lets the MPI go on: other ranks may wait there for this rank, and may do so for ever.
int while_waiting(void* board) noexcept {
    progress_mpi();
    return static_cast<CallBoard*>(board)->is_contradicted() ? 1 : 0;
}

/// Rank 0's word goes to all ranks of the team.
bool broadcast(const RankTeam& team, std::uint64_t& word) {
    const corymb_operation operation{sizeof operation, CORYMB_BROADCAST, 0,      CORYMB_UINT64,
                                     CORYMB_NO_OP,     nullptr,          &word,  1,
                                     nullptr,          nullptr,          nullptr};
    return library().run(&operation, team.team) == CORYMB_OK;
}

/// Collective over the communicator's team: its ranks get the memory of the boards, or do without.
/// `memory` is rank 0's, which stays open until all ranks have theirs.
void make_boards(Communicator& communicator, Descriptor& memory) {
    std::uint64_t place = 0; // One word, so that the plan of has_nonce serves.
    if (communicator.rank == 0) {
        memory.reset(make_board_memory(communicator.size));
        place = static_cast<std::uint64_t>(::getpid()) << 32U |
                static_cast<std::uint32_t>(memory.number());
    }
    if (!broadcast(communicator, place)) {
        return;
    }
    if (communicator.rank != 0) {
        open_memory(place >> 32U, place & 0xffff'ffffU, memory);
    }
    static_cast<void>(
        open_boards(communicator, communicator.rank, communicator.size, memory.number()));
}

/// Agrees on the number of earlier nonblocking calls. Blocking and nonblocking calls should come in
/// one order everywhere, but MPI libraries do not enforce it, and programs have them cross. A rank
/// that has made fewer leaves its next ones to the MPI. True: the ranks agree.
bool agree_on_early_requests(Communicator& communicator, const Terms& all) {
    std::uint64_t most = all.early_requests;
    if (most == Agreement::few_most) {
        most = communicator.early_requests;
        Agreement agreement;
        agreement.largest(most);
        if (!agree(agreement, communicator.comm)) {
            return false;
        }
    }
    communicator.early_requests = most - communicator.early_requests;
    return true;
}

/// The terms of all ranks. True: they have agreed to go on with a kept team, which then is the
/// communicator's.
bool propose_to_all(Communicator& communicator, Terms& terms, Descriptor& memory) {
    RankTeam offer = is_switched("off") ? RankTeam{} : take_kept_team(communicator);
    propose(communicator, offer_of(offer), terms, memory);
    const bool is_agreed = agree_on(communicator.comm, terms);
    if (is_agreed && terms.has_kept && terms.is_one_kept) {
        static_cast<RankTeam&>(communicator) = std::move(offer);
        communicator.sync_points.begin_again();
        return true;
    }
    give_up(std::move(offer));
    if (is_agreed && terms.has_kept) {
        terms = {};
        propose(communicator, 0, terms, memory);
        agree_on(communicator.comm, terms);
    }
    return false;
}

/// Collective: whether calls are to take longer before there is a team. `has_team`: a rank makes
/// its nonblocking calls on one.
bool is_too_early(Communicator& communicator, bool& has_team) {
    if (communicator.early.wanted_ns() > 0) {
        return !agree_that_long_enough(communicator, has_team);
    }
    bool is_one_machine = false;
    bool is_any_in_a_hurry = is_in_a_hurry(communicator);
    bool is_first = team_pays_ns() == tuning::first_team_pays_ns;
    Agreement agreement;
    agreement.same(machine_and_namespace(), is_one_machine);
    agreement.any(is_any_in_a_hurry);
    agreement.any(is_first);
    agreement.any(has_team);
    if (!agree(agreement, communicator.comm) || is_any_in_a_hurry || has_team) {
        return false;
    }
    communicator.early.wait_for(!is_one_machine ? tuning::team_between_nodes_pays_ns
                                : is_first      ? tuning::first_team_pays_ns
                                                : tuning::team_pays_ns);
    return !agree_that_long_enough(communicator, has_team);
}

/// The rest of the agreement, when all have the memory.
std::uint64_t join_node(Communicator& communicator, const Terms& terms, const Descriptor& memory) {
    const bool is_crowded = communicator.crowd > 1;
    bool mpi_keeps_cpus = !terms.always && is_crowded && keeps_cpus(communicator.comm);
    std::uint64_t objections = 0;
    if (attach(communicator, memory.number(), communicator.size, communicator.rank) != CORYMB_OK) {
        object(objections, Objection::not_attached);
    }
    Agreement attached;
    attached.any(mpi_keeps_cpus);
    objections = all_objections(communicator, objections, attached);
    if (objections != 0) { // Nobody waits in the team for a rank that is not there.
        return objections;
    }
    Descriptor board;
    if (!has_nonce(communicator, communicator.rank, terms.nonce)) {
        object(objections, Objection::other_memory);
    } else {
        make_boards(communicator, board);
    }
    bool lacks_board = communicator.request_board == nullptr;
    Agreement boards;
    boards.any(lacks_board);
    objections = all_objections(communicator, objections, boards);
    if (lacks_board) {
        communicator.request_board.reset();
    }
    begin_use(communicator, is_crowded, mpi_keeps_cpus);
    return objections;
}

/// Between nodes: the terms are agreed on.
std::uint64_t join_nodes(Communicator& communicator, const Terms& terms, bool is_urgent) {
    // Messages between nodes are the MPI's.
    communicator.can_request = communicator.can_request && !terms.no_calls;
    const std::uint64_t objections = agree_on_node_teams(communicator, is_urgent);
    communicator.crowd = communicator.ranks_per_cpu;
    if (objections == 0) {
        communicator.costly_plans.begin(communicator.choice, communicator.size);
    }
    return objections;
}

/// Returns the objections of all ranks; 0: they have a team.
std::uint64_t propose_and_join(Communicator& communicator, bool is_urgent) {
    constexpr auto not_attached = static_cast<std::uint64_t>(Objection::not_attached);
    constexpr auto not_yet = static_cast<std::uint64_t>(Objection::not_yet);
    bool has_team = communicator.has_requests_on_team;
    if (is_urgent) {
        Agreement agreement;
        agreement.any(has_team);
        if (!agree(agreement, communicator.comm)) {
            return not_attached;
        }
    } else if (is_too_early(communicator, has_team)) {
        return not_yet;
    }
    if (has_team) {
        return go_on_with_steps(communicator) ? 0 : not_attached;
    }
    communicator.steps->end(); // No rank has come to the last step, and none will.
    Terms terms;
    Descriptor memory;
    const std::uint64_t made = communicator.early_requests;
    const bool is_kept = propose_to_all(communicator, terms, memory);
    if (!agree_on_early_requests(communicator, terms)) {
        return not_attached;
    }
    if (is_kept || terms.objections != 0) {
        return terms.objections;
    }
    take_terms(communicator, terms, communicator.comm, communicator.size);
    if (!terms.is_one_machine) {
        const std::uint64_t objections = join_nodes(communicator, terms, is_urgent);
        if (objections == not_yet) {
            communicator.early_requests = made;
        }
        return objections;
    }
    if (communicator.rank != 0) {
        open_memory(terms.pid, terms.descriptor, memory);
    }
    const auto not_shared = static_cast<std::uint64_t>(Objection::not_shared);
    if (const std::uint64_t objections =
            all_objections(communicator, can_map(memory) ? 0 : not_shared);
        objections != 0) {
        return objections;
    }
    return join_node(communicator, terms, memory);
}

} // namespace

namespace {

std::uint64_t find_machine() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    struct stat pids{};
    if (::stat("/proc/self/ns/pid", &pids) == 0) {
        boot += std::to_string(pids.st_ino);
    }
    if (const char* const node = std::getenv("CORYMB_MPI_NODE"); node != nullptr) {
        boot += std::string("/") + node;
    }
    return std::hash<std::string>{}(boot);
}

/// For a team whose terms are taken; it gets its CallBoard.
struct AttachOptions {
    AttachOptions(RankTeam& team, int descriptor, int size, int rank) {
        corymb_options_init(&options);
        options.deadline_ns = std::getenv("CORYMB_DEADLINE") != nullptr ? 0 : no_deadline_ns;
        team.board = std::make_unique<CallBoard>(rank, size);
        options.interrupted = &while_waiting;
        options.interrupted_context = team.board.get();
        options.interrupted_every_ns = tuning::progress_every_ns;
        options.ranks_per_cpu = team.ranks_per_cpu;
        corymb_attach_options_init(&how);
        how.descriptor = descriptor;
        how.size = size;
        how.rank = rank;
        how.ranks_here = 1;
        how.team = &options;
    }
    AttachOptions(const AttachOptions&) = delete;
    AttachOptions& operator=(const AttachOptions&) = delete;

    corymb_options options{};
    corymb_attach_options how{};
};

} // namespace

bool is_switched(const char* how) noexcept {
    const char* const value = std::getenv("CORYMB_MPI");
    return value != nullptr && std::strcmp(value, how) == 0;
}

bool is_in_a_hurry(const Communicator& communicator) noexcept {
    const char* const network = std::getenv("CORYMB_NETWORK");
    const bool is_given = network != nullptr && *network != '\0';
    return is_given || is_switched("always") || is_switched("early") || is_switched("off") ||
           has_kept_team(communicator);
}

std::int64_t team_pays_ns() noexcept {
    return has_had_team.load(std::memory_order_relaxed) ? tuning::team_pays_ns
                                                        : tuning::first_team_pays_ns;
}

void note_team() noexcept {
    has_had_team.store(true, std::memory_order_relaxed);
    tell_of_open_work();
}

void propose(const Communicator& communicator, std::uint64_t kept, Terms& terms,
             Descriptor& memory) {
    terms.kept = kept;
    terms.has_kept = kept != 0;
    terms.machine = machine_and_namespace();
    if (!is_world_usable()) { // The communicator is a session's.
        object(terms.objections, Objection::not_initialised);
        return;
    }
    terms.cpus.add_own();
    terms.crowd = static_cast<std::uint64_t>(known_ranks_per_cpu());
    terms.always = is_switched("always");
    terms.by_thread = goes_on_by_thread();
    terms.no_calls = goes_on_by_thread() && !has_many_threads();
    terms.pass_by = completions_pass_by() || is_switched("blocking");
    terms.early_requests = communicator.early_requests;
    if (is_switched("off")) {
        object(terms.objections, Objection::switched_off);
        return;
    }
    terms.no_thread = goes_on_by_thread() && !make_progress_thread();
    if (!library().missing.empty()) {
        object(terms.objections, Objection::no_library);
    } else if (kept != 0) {
        return;
    } else if (team_count() >= teams_max && has_no_room()) {
        object(terms.objections, Objection::too_many);
    } else if (communicator.rank == 0) {
        if (!make_memory(communicator.size, memory)) {
            object(terms.objections, Objection::no_memory);
            return;
        }
        terms.pid = static_cast<std::uint64_t>(::getpid());
        terms.descriptor = static_cast<std::uint64_t>(memory.number());
        terms.nonce = random_number();
    }
}

void take_terms(RankTeam& team, const Terms& of_all, MPI_Comm comm, int size) {
    team.ranks = size;
    team.id = host().Comm_group(comm, &team.members) == MPI_SUCCESS ? of_all.nonce : 0;
    if (of_all.always) {
        try_nothing(team);
    }
    team.by_thread = of_all.by_thread;
    team.can_request = !of_all.no_thread && !of_all.pass_by;
    team.why_no_requests = of_all.pass_by ? Reason::passed_by : Reason::no_hook;
    if (!of_all.is_one_machine) {
        return;
    }
    team.ranks_per_cpu = static_cast<int>(of_all.crowd);
    const int own_of_cpu = ranks_per_cpu(size, of_all.cpus.count());
    team.crowd = std::max(own_of_cpu, team.ranks_per_cpu);
    if (of_all.cpus.count() > 0) {
        note_ranks_per_cpu(own_of_cpu);
    }
}

void begin_use(RankTeam& team, bool is_crowded, bool mpi_keeps_cpus) noexcept {
    if (team.request_board != nullptr) {
        team.sync_points.end(); // Ranks need not meet.
    }
    team.are_cpus_shared = is_crowded;
    // A thread that goes on with requests takes CPUs that no call is charged with.
    team.request_measure = is_crowded && !team.by_thread ? Measure::taken : Measure::longest;
    const ThreadTimes times = thread_times();
    team.cpu_share.begin(times.ran_ns, times.waited_ns);
    if (mpi_keeps_cpus) {
        try_nothing(team);
    }
}

std::uint64_t machine_and_namespace() {
    static const std::uint64_t here = find_machine(); // Takes as long as a communicator.
    return here;
}

std::uint64_t random_number() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source() | 1;
}

bool make_memory(int size, Descriptor& memory) {
    int number = -1;
    const auto is_made = [&] {
        return library().make_team_descriptor(size, &number) == CORYMB_OK;
    };
    if (!is_made()) {
        end_kept_teams(); // If memory is limited, parked teams have a part of it.
        if (!is_made()) {
            return false;
        }
    }
    ::fcntl(number, F_SETFD, FD_CLOEXEC);
    memory.reset(number);
    return true;
}

void open_memory(std::uint64_t pid, std::uint64_t descriptor, Descriptor& memory) {
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(descriptor);
    memory.reset(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

bool can_map(const Descriptor& memory) {
    const auto is_mapped = [&] {
        std::size_t absent = 0;
        return library().absent_ranks(memory.number(), nullptr, 0, &absent) == CORYMB_OK;
    };
    if (memory.number() < 0) {
        return false;
    }
    if (!is_mapped()) {
        end_kept_teams(); // If addresses are limited, parked teams have a part of them.
        return is_mapped();
    }
    return true;
}

corymb_status attach(RankTeam& team, int descriptor, int size, int rank) {
    AttachOptions options(team, descriptor, size, rank);
    return library().attach(&options.how, &team.team);
}

corymb_status attach_at_once(RankTeam& team, int descriptor, int size, int rank,
                             corymb_process_team*& arriving) {
    AttachOptions options(team, descriptor, size, rank);
    options.how.at_once = 1;
    return library().process_team_create(&options.how, &arriving);
}

bool has_nonce(const RankTeam& team, int rank, std::uint64_t nonce) {
    std::uint64_t seen = rank == 0 ? nonce : 0;
    return broadcast(team, seen) && seen == nonce;
}

std::uint64_t all_objections(const Communicator& communicator, std::uint64_t own,
                             Agreement agreement) {
    agreement.bits({&own, 1});
    if (!agree(agreement, communicator.comm)) {
        object(own, Objection::not_attached);
    }
    return own;
}

std::string texts_of(std::uint64_t objections) {
    std::string texts;
    for (std::uint64_t bit = 1; bit <= static_cast<std::uint64_t>(Objection::wrong_network);
         bit <<= 1) {
        if ((objections & bit) != 0) {
            texts += texts.empty() ? "" : "; ";
            texts += text_of(static_cast<Objection>(bit));
        }
    }
    return texts;
}

void agree_on_team(Communicator& communicator, bool is_urgent) noexcept {
    std::uint64_t objections = 0;
    try {
        objections = propose_and_join(communicator, is_urgent);
    } catch (const std::exception&) { // No memory in the middle: the others cannot know.
        objections = static_cast<std::uint64_t>(Objection::not_attached);
    }
    if (objections == 0) {
        communicator.state = Communicator::State::team;
        communicator.has_requests_on_team = true;
        communicator.why.clear();
        note_team();
        return;
    }
    give_back_team(communicator);
    if (objections == static_cast<std::uint64_t>(Objection::not_yet)) {
        return;
    }
    communicator.state = Communicator::State::passed;
    communicator.has_requests_on_team = false;
    communicator.reason = Reason::no_team;
    communicator.why = texts_of(objections);
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator get a team, or agree that they have none. Nothing is guessed from
// names: rank 0 makes a segment, everybody maps it, and a random number goes through it. Every step
// ends with an agreement through the MPI below, so that no rank is left alone with its opinion.
#include "agreement/meeting.hpp"

#include "below/bypass.hpp"
#include "below/clock.hpp"
#include "below/library.hpp"
#include "below/node_ranks.hpp"
#include "below/open_work.hpp"
#include "below/visit.hpp"
#include "communicator/parked_teams.hpp"
#include "requests/progress_thread.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace corymb::mpi {

namespace {

/// Each has an address range of the machine's size mapped.
constexpr int teams_max = 64;
/// MPI has no deadlines; a peer that dies is noticed without one.
constexpr std::int64_t no_deadline_ns = std::int64_t{1} << 61;

/// Words that ranks tell each other, combined by bitwise or. Rank 0 alone sets the last three.
struct Words {
    std::uint64_t objections = 0;
    std::uint64_t always = 0;         ///< Not 0: a rank wants no trials.
    std::uint64_t by_thread = 0;      ///< Not 0: requests of a rank go on by a thread.
    std::uint64_t no_thread = 0;      ///< Not 0: a rank wants a thread and cannot make it.
    std::uint64_t no_calls = 0;       ///< Not 0: the thread of a rank must not call the MPI.
    std::uint64_t pass_by = 0;        ///< Not 0: requests of a rank are completed past the adapter.
    std::uint64_t is_slow = 0;        ///< Not 0: a call of the MPI takes long on a rank.
    CpuSet cpus;                      ///< CPUs that some rank may use.
    std::uint64_t crowd = 0;          ///< Ranks of a CPU that a rank knows of, as ones.
    std::uint64_t early_requests = 0; ///< The number as ones from the lowest bit on, up to 64.
    std::uint64_t machine = 0;
    std::uint64_t not_machine = 0;
    std::uint64_t parked = 0; ///< The team that a rank offers to go on with.
    std::uint64_t not_parked = 0;
    std::uint64_t pid = 0;
    std::uint64_t descriptor = 0;
    std::uint64_t nonce = 0;
};

void object(Words& words, Objection objection) {
    words.objections |= static_cast<std::uint64_t>(objection);
}

/// True: everybody has said nothing against it.
bool agree(MPI_Comm comm, Words& words) {
    static_assert(sizeof(Words) % sizeof(std::uint64_t) == 0);
    const Words mine = words;
    const Host& mpi = host();
    const int count = static_cast<int>(sizeof(Words) / sizeof(std::uint64_t));
    if (mpi.Allreduce(&mine, &words, count, mpi.type_uint64, mpi.op_bor, comm) != MPI_SUCCESS) {
        object(words, Objection::not_attached);
    }
    return words.objections == 0;
}

bool is_switched(const char* how) noexcept {
    const char* const value = std::getenv("CORYMB_MPI");
    return value != nullptr && std::strcmp(value, how) == 0;
}

/// With more ranks than CPUs, shorter calls are not tried. Their time within the call says little:
/// a rank that comes late finds all there.
constexpr std::uint64_t crowded_bytes = 16384;
/// With more ranks than CPUs, nothing is tried beside an MPI whose calls take longer than this: its
/// ranks do not give their CPUs away.
constexpr std::int64_t crowded_call_most_ns = 1'000'000;

/// The shortest of some calls, which all ranks make: a rank that comes late makes one take long.
bool takes_long(MPI_Comm comm) {
    constexpr int calls = 3;
    std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < calls; ++i) {
        const std::int64_t begin = now_ns();
        host().Barrier(comm);
        shortest_ns = std::min(shortest_ns, now_ns() - begin);
    }
    return shortest_ns > crowded_call_most_ns;
}

void try_no_requests(Group& group) noexcept {
    group.request_choice.give_to_corymb();
    group.meetings.end();
}

/// The number as ones, so that the bitwise or over the ranks is the greatest number's.
std::uint64_t as_ones(std::uint64_t count) noexcept {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

/// Whether all ranks have given one number. `bits` is the bitwise or of their numbers, `lacking` of
/// the complements.
bool is_same(std::uint64_t bits, std::uint64_t lacking) noexcept {
    return (bits & lacking) == 0;
}

/// Whether there is no room for a team, after unused teams have made way.
bool has_no_room() noexcept {
    end_parked();
    return team_count() >= teams_max;
}

/// The first words of a rank; rank 0 makes the memory, if it does not offer a team.
void open_talks(const Group& group, std::uint64_t parked, Words& words, Descriptor& memory) {
    words.parked = parked;
    words.not_parked = ~parked;
    words.machine = machine_and_namespace();
    words.not_machine = ~words.machine;
    if (!is_world_usable()) { // The communicator is a session's.
        object(words, Objection::not_initialised);
        return;
    }
    words.cpus.add_own();
    words.crowd = as_ones(static_cast<std::uint64_t>(known_ranks_per_cpu()));
    words.always = is_switched("always") ? 1 : 0;
    words.by_thread = goes_on_by_thread() ? 1 : 0;
    words.no_calls = goes_on_by_thread() && !has_many_threads() ? 1 : 0;
    words.pass_by = completions_pass_by() || is_switched("blocking") ? 1 : 0;
    words.early_requests = as_ones(group.early_requests);
    if (is_switched("off")) {
        object(words, Objection::switched_off);
        return;
    }
    words.no_thread = goes_on_by_thread() && !make_progress_thread() ? 1 : 0;
    if (!library().missing.empty()) {
        object(words, Objection::no_library);
    } else if (parked != 0) {
        return;
    } else if (team_count() >= teams_max && has_no_room()) {
        object(words, Objection::too_many);
    } else if (group.rank == 0) {
        if (!make_memory(group.size, memory)) {
            object(words, Objection::no_memory);
            return;
        }
        words.pid = static_cast<std::uint64_t>(::getpid());
        words.descriptor = static_cast<std::uint64_t>(memory.number());
        words.nonce = random_number();
    }
}

/// Visits the MPI: other ranks may wait there for this rank, and may do so for ever.
int visit(void* board) noexcept {
    visit_mpi();
    return static_cast<CallBoard*>(board)->is_contradicted() ? 1 : 0;
}

/// Collective over the group's team: its ranks get the memory of the board, or do without. `memory`
/// is rank 0's, which stays open until all ranks have theirs.
void open_board(Group& group, Descriptor& memory) {
    std::uint64_t place = 0; // One word, so that the plan of has_nonce serves.
    if (group.rank == 0) {
        memory.reset(CallBoard::make(group.size));
        place = static_cast<std::uint64_t>(::getpid()) << 32U |
                static_cast<std::uint32_t>(memory.number());
    }
    if (library().broadcast(&place, 1, CORYMB_UINT64, 0, group.team) != CORYMB_OK) {
        return;
    }
    if (group.rank != 0) {
        open_memory(place >> 32U, place & 0xffff'ffffU, memory);
    }
    group.board->open(memory.number());
}

/// Agrees on the number of earlier nonblocking calls. Blocking and nonblocking calls should come in
/// one order everywhere, but MPI libraries do not enforce it, and programs have them cross. A rank
/// that has made fewer leaves its next ones to the MPI. True: the ranks agree.
bool agree_on_early_requests(Group& group, const Words& all) {
    const Host& mpi = host();
    const std::uint64_t mine = group.early_requests;
    auto most = static_cast<std::uint64_t>(std::popcount(all.early_requests));
    if (most == 64 &&
        mpi.Allreduce(&mine, &most, 1, mpi.type_uint64, mpi.op_max, group.comm) != MPI_SUCCESS) {
        return false;
    }
    group.early_requests = most - mine;
    return true;
}

/// The words of all ranks. True: they have agreed to go on with a parked team, which then is the
/// group's.
bool open_talks_of_all(Group& group, Words& words, Descriptor& memory) {
    RankTeam offer = is_switched("off") ? RankTeam{} : take_parked(group);
    open_talks(group, offer_of(offer), words, memory);
    const bool is_agreed = agree(group.comm, words);
    if (is_agreed && words.parked != 0 && is_same(words.parked, words.not_parked)) {
        static_cast<RankTeam&>(group) = std::move(offer);
        group.meetings.begin_again();
        return true;
    }
    give_up(std::move(offer));
    if (is_agreed && words.parked != 0) {
        words = {};
        open_talks(group, 0, words, memory);
        agree(group.comm, words);
    }
    return false;
}

/// Words that ranks tell each other before anything that takes long; combined by bitwise or.
struct FirstWords {
    std::uint64_t machine = 0;
    std::uint64_t not_machine = 0;
    std::uint64_t hurries = 0; ///< Not 0: a rank wants to meet at once.
};

/// Whether time plays no part: a variable says so, or there is a team to go on with.
bool is_in_a_hurry(const Group& group) noexcept {
    const char* const network = std::getenv("CORYMB_NETWORK");
    const bool is_given = network != nullptr && *network != '\0';
    return is_given || is_switched("always") || is_switched("off") || has_parked(group);
}

/// Collective: whether calls between nodes are to take longer before there is a team.
bool is_too_early(Group& group) {
    if (group.early.wanted_ns > 0) {
        return !agree_that_long_enough(group);
    }
    FirstWords mine;
    mine.machine = machine_and_namespace();
    mine.not_machine = ~mine.machine;
    mine.hurries = is_in_a_hurry(group) ? 1 : 0;
    FirstWords all;
    if (host().Allreduce(&mine, &all, sizeof all / sizeof all.machine, host().type_uint64,
                         host().op_bor, group.comm) != MPI_SUCCESS ||
        is_same(all.machine, all.not_machine) || all.hurries != 0) {
        return false;
    }
    group.early.wanted_ns = EarlyCalls::known_network_ns;
    return !agree_that_long_enough(group);
}

/// The rest of the talks, when all have the memory.
std::uint64_t join_node(Group& group, const Words& words, const Descriptor& memory) {
    const bool may_try = words.always == 0;
    group.ranks_per_cpu = std::popcount(words.crowd);
    const int own_of_cpu = ranks_per_cpu(group.size, words.cpus.count());
    group.crowd = std::max(own_of_cpu, group.ranks_per_cpu);
    const bool is_crowded = group.crowd > 1;
    if (words.cpus.count() > 0) {
        note_ranks_per_cpu(own_of_cpu);
    }
    Words attached;
    attached.is_slow = may_try && is_crowded && takes_long(group.comm) ? 1 : 0;
    if (attach(group, memory.number(), group.size, group.rank) != CORYMB_OK) {
        object(attached, Objection::not_attached);
    }
    if (!agree(group.comm, attached)) { // Nobody waits in the team for a rank that is not there.
        return attached.objections;
    }
    Words proved;
    Descriptor board;
    if (!has_nonce(group, group.rank, words.nonce)) {
        object(proved, Objection::other_memory);
    } else {
        open_board(group, board);
    }
    if (agree(group.comm, proved) && !agree_on_early_requests(group, words)) {
        object(proved, Objection::not_attached);
    }
    if (may_try && is_crowded) {
        const bool is_slow = attached.is_slow != 0;
        group.choice.give_to_corymb(is_slow ? ~std::uint64_t{0} : crowded_bytes);
        group.request_choice.give_any_size_to_corymb();
        if (is_slow) {
            try_no_requests(group);
        } else if (!group.by_thread) { // Threads take CPUs from ranks, in short calls, too.
            group.request_choice.give_to_corymb(crowded_bytes);
        }
    }
    return proved.objections;
}

/// Returns the objections of all ranks; 0: they have a team.
std::uint64_t negotiate(Group& group, bool is_urgent) {
    constexpr auto not_attached = static_cast<std::uint64_t>(Objection::not_attached);
    constexpr auto not_yet = static_cast<std::uint64_t>(Objection::not_yet);
    if (!is_urgent && is_too_early(group)) {
        return not_yet;
    }
    Words words;
    Descriptor memory;
    if (open_talks_of_all(group, words, memory)) {
        return agree_on_early_requests(group, words) ? 0 : not_attached;
    }
    if (words.objections != 0) {
        return words.objections;
    }
    group.ranks = group.size;
    group.id = host().Comm_group(group.comm, &group.members) == MPI_SUCCESS ? words.nonce : 0;
    if (words.always != 0) {
        group.choice.give_to_corymb();
        try_no_requests(group);
    }
    group.by_thread = words.by_thread != 0;
    group.can_request = words.no_thread == 0 && words.pass_by == 0;
    group.why_no_requests = words.pass_by != 0 ? Reason::passed_by : Reason::no_hook;
    if (!is_same(words.machine, words.not_machine)) {
        // Messages between nodes are the MPI's.
        group.can_request = group.can_request && words.no_calls == 0;
        const std::uint64_t objections = meet_on_nodes(group, is_urgent);
        group.crowd = group.ranks_per_cpu;
        if (objections == 0) {
            group.costly_plans.begin(group.choice, group.size);
        }
        return objections != 0 || agree_on_early_requests(group, words) ? objections : not_attached;
    }
    if (group.rank != 0) {
        open_memory(words.pid, words.descriptor, memory);
    }
    Words found;
    if (!can_map(memory)) {
        object(found, Objection::not_shared);
    }
    if (!agree(group.comm, found)) {
        return found.objections;
    }
    return join_node(group, words, memory);
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

} // namespace

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
        end_parked(); // If memory is limited, parked teams have a part of it.
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
        end_parked(); // If addresses are limited, parked teams have a part of them.
        return is_mapped();
    }
    return true;
}

corymb_status attach(Group& group, int descriptor, int size, int rank) {
    corymb_options options;
    corymb_options_init(&options);
    options.deadline_ns = std::getenv("CORYMB_DEADLINE") != nullptr ? 0 : no_deadline_ns;
    group.board = std::make_unique<CallBoard>(rank, size);
    options.interrupted = &visit;
    options.interrupted_context = group.board.get();
    options.interrupted_every_ns = visit_every_ns;
    options.ranks_per_cpu = group.ranks_per_cpu;
    corymb_attach_options how;
    corymb_attach_options_init(&how);
    how.descriptor = descriptor;
    how.size = size;
    how.rank = rank;
    how.ranks_here = 1;
    how.team = &options;
    return library().attach(&how, &group.team);
}

bool has_nonce(Group& group, int rank, std::uint64_t nonce) {
    std::uint64_t seen = rank == 0 ? nonce : 0;
    return library().broadcast(&seen, 1, CORYMB_UINT64, 0, group.team) == CORYMB_OK &&
           seen == nonce;
}

void meet(Group& group, bool is_urgent) noexcept {
    std::uint64_t objections = 0;
    try {
        objections = negotiate(group, is_urgent);
    } catch (const std::exception&) { // No memory in the middle: the others cannot know.
        objections = static_cast<std::uint64_t>(Objection::not_attached);
    }
    if (objections == 0) {
        group.state = Group::State::team;
        tell_of_open_work();
        return;
    }
    give_back_team(group);
    if (objections == static_cast<std::uint64_t>(Objection::not_yet)) {
        return;
    }
    group.state = Group::State::passed;
    group.reason = Reason::no_team;
    group.early_requests = 0;
    for (std::uint64_t bit = 1; bit <= static_cast<std::uint64_t>(Objection::wrong_network);
         bit <<= 1) {
        if ((objections & bit) != 0) {
            group.why += group.why.empty() ? "" : "; ";
            group.why += text_of(static_cast<Objection>(bit));
        }
    }
}

} // namespace corymb::mpi

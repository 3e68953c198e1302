// SPDX-License-Identifier: Apache-2.0
// The steps:
//   1. In its fourth nonblocking call each rank begins a reduction of the MPI's, by which rank 0
//      announces memory, the board. All further agreements are made there.
//   2. When the calls of a rank have taken long enough, all ranks write their terms on the board.
//   3. They open the memory of the team, and write whether they have it.
//   4. They attach to the team, and write what came of it.
//   5. They make their nonblocking calls on the team.
// The board ends each of the steps 2 to 4 at one nonblocking call of all ranks, though nobody waits
// (src/channel/first_comer.hpp). A rank that has not opened it makes calls without a look, and says
// how many when it comes; none of them ends a step.
//
// Blocking calls are in no order with these: ranks agree about them as before (team.cpp). An
// agreement that is to make a team ends the steps of all ranks, or, if a rank has come to step 5,
// has all ranks use that team.
//
// Decision 0057 says what else was possible.
#include "agreement/steps.hpp"

#include "agreement/agree.hpp"
#include "agreement/team.hpp"
#include "below/library.hpp"
#include "communicator/early_steps.hpp"
#include "communicator/kept_teams.hpp"
#include "requests/request_trials.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>

namespace corymb::mpi {

namespace {

using Stage = EarlySteps::Stage;

/// The call in which the ranks begin; as many calls as before an agreement in blocking ones.
constexpr std::uint64_t first_call = tuning::early_calls + 1;
/// All ranks end them, for people with this text.
void end_steps(Communicator& communicator, std::string why) {
    communicator.why = std::move(why);
    communicator.steps->end();
}

bool open_early_board(const Communicator& communicator, int descriptor) {
    EarlySteps& steps = *communicator.steps;
    steps.board = std::make_unique<EarlyBoard>(communicator.rank, communicator.size);
    return steps.board->open(descriptor);
}

/// Rank 0 makes the board. Without success it announces none.
void offer_board(const Communicator& communicator) noexcept {
    EarlySteps& steps = *communicator.steps;
    try {
        const std::uint64_t nonce = random_number();
        if (steps.make_board(communicator.size) &&
            open_early_board(communicator, steps.board_memory.number())) {
            steps.board->nonce() = nonce;
            EarlySteps::Question& question = steps.question;
            question.pid = static_cast<std::uint64_t>(::getpid());
            question.descriptor = static_cast<std::uint64_t>(steps.board_memory.number());
            question.nonce = nonce;
        }
    } catch (const std::exception&) { // No memory, or no random number.
    }
}

/// Begins the reduction. All ranks do so in this call, whether they want a team or not.
void ask(const Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    EarlySteps::Question& question = steps.question;
    question.no_requests = is_switched("blocking");
    if (is_switched("off")) {
        object(question.objections, Objection::switched_off);
    } else if (!is_world_usable()) { // The communicator is a session's.
        object(question.objections, Objection::not_initialised);
    } else if (communicator.rank == 0 && steps.stage == Stage::counting) {
        offer_board(communicator);
    }
    question.agreement.bits({&question.objections, 1});
    question.agreement.any(question.no_requests);
    question.agreement.same(machine_and_namespace(), question.is_one_machine);
    for (std::uint64_t* const said : {&question.pid, &question.descriptor, &question.nonce}) {
        question.agreement.from_one(*said);
    }
    const auto own = question.agreement.words(Agreement::By::bit_or);
    std::ranges::copy(own, question.own.begin());
    const Host& mpi = host();
    question.is_asked = true;
    question.is_under_way =
        mpi.Iallreduce(question.own.data(), question.all.data(), static_cast<int>(own.size()),
                       mpi.type_uint64, mpi.op_bor, communicator.comm,
                       &question.request) == MPI_SUCCESS;
    if (!question.is_under_way) {
        steps.end();
    } else if (steps.stage == Stage::counting) {
        steps.stage = Stage::asked;
    }
}

/// Looks whether the reduction is over; then the ranks have a board, or there will be no steps.
void look_for_answer(Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    EarlySteps::Question& question = steps.question;
    int is_over = 0;
    if (host().Test(&question.request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
        question.is_under_way = false;
        steps.end();
        return;
    }
    question.is_under_way = is_over == 0;
    if (is_over == 0 || steps.stage != Stage::asked) {
        return;
    }
    question.agreement.take(
        Agreement::By::bit_or,
        {question.all.data(), question.agreement.words(Agreement::By::bit_or).size()});
    if (question.objections != 0 || question.no_requests || !question.is_one_machine) {
        end_steps(communicator, question.objections != 0 ? texts_of(question.objections)
                                : question.no_requests   ? text_of(Reason::passed_by)
                                                         : text_of(Reason::nodes_apart));
        return;
    }
    bool has_board = question.nonce != 0;
    if (has_board && communicator.rank != 0) {
        Descriptor memory;
        open_memory(question.pid, question.descriptor, memory);
        has_board = open_early_board(communicator, memory.number()) &&
                    steps.board->nonce() == question.nonce;
    }
    if (!has_board) { // If it is so on this rank alone, the others wait for its terms in vain.
        steps.end();
        return;
    }
    steps.stage = Stage::early;
    steps.is_urgent = is_in_a_hurry(communicator);
}

/// Whether calls have taken long enough on any rank.
bool is_time(const Communicator& communicator) {
    const EarlySteps& steps = *communicator.steps;
    std::atomic<std::uint32_t>& is_wanted = steps.board->is_wanted();
    if (is_wanted.load(std::memory_order_relaxed) != 0) {
        return true;
    }
    const std::int64_t took_ns =
        communicator.early.time_ns(steps.calls - 1, early_sample(communicator)) +
        earlier_ns(communicator.early).load(std::memory_order_relaxed);
    if (!steps.is_urgent && took_ns < team_pays_ns()) {
        return false;
    }
    is_wanted.store(1, std::memory_order_relaxed);
    return true;
}

/// Writes what this rank names on the board, once a step.
void tell(EarlySteps& steps, const Agreement& agreement) {
    EarlyBoard::End::Facts mine{};
    std::ranges::copy(agreement.words(Agreement::By::bit_or), mine.begin());
    steps.board->end().tell(mine);
}

void tell_objections(EarlySteps& steps, std::uint64_t objections) {
    Agreement agreement;
    agreement.bits({&objections, 1});
    agreement.any(steps.mpi_keeps_cpus);
    tell(steps, agreement);
}

/// The step has ended: what all ranks have named together. The next step begins.
void take_all(EarlySteps& steps, Agreement& agreement, int ranks) {
    EarlyBoard::End& end = steps.board->end();
    EarlyBoard::End::Facts all{};
    for (int rank = 0; rank < ranks; ++rank) {
        const EarlyBoard::End::Facts of_rank = end.facts(static_cast<std::size_t>(rank));
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] |= of_rank[i];
        }
    }
    agreement.take(Agreement::By::bit_or,
                   std::span(all).first(agreement.words(Agreement::By::bit_or).size()));
    end.begin_term();
}

std::uint64_t all_objections_on_board(EarlySteps& steps, int ranks) {
    std::uint64_t objections = 0;
    Agreement agreement;
    agreement.bits({&objections, 1});
    agreement.any(steps.mpi_keeps_cpus);
    take_all(steps, agreement, ranks);
    return objections;
}

void tell_terms(const Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    steps.terms = {};
    propose(communicator, offer_of(steps.offer), steps.terms, steps.memory);
    Agreement agreement;
    steps.terms.ask(agreement);
    tell(steps, agreement);
}

/// Step 2.
void begin_terms(const Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    steps.offer = take_kept_team(communicator);
    steps.board->end().skip(steps.calls - 1);
    tell_terms(communicator);
    steps.stage = Stage::proposed;
}

/// Step 3: the memory of the team and, for it, that of its boards.
void map_memory(const Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    const EarlySteps::Question& question = steps.question;
    take_terms(steps.made, steps.terms, communicator.comm, communicator.size);
    if (communicator.rank != 0) {
        open_memory(steps.terms.pid, steps.terms.descriptor, steps.memory);
    }
    Descriptor boards;
    if (communicator.rank != 0) {
        open_memory(question.pid, question.descriptor, boards);
    }
    const int boards_at = communicator.rank == 0 ? steps.board_memory.number() : boards.number();
    steps.made.board = std::make_unique<CallBoard>(communicator.rank, communicator.size);
    const bool has_all = can_map(steps.memory) &&
                         open_boards(steps.made, communicator.rank, communicator.size, boards_at);
    steps.stage = Stage::mapped;
    tell_objections(steps, has_all ? 0 : static_cast<std::uint64_t>(Objection::not_shared));
}

/// Step 4.
void begin_to_attach(const Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    const corymb_status status = attach_at_once(
        steps.made, steps.memory.number(), communicator.size, communicator.rank, steps.arriving);
    steps.memory.reset(-1);
    steps.close_board();
    steps.mpi_keeps_cpus =
        !steps.terms.always && steps.made.crowd > 1 && early_sample(communicator).keeps_cpus();
    steps.stage = Stage::attaching;
    if (status != CORYMB_OK) {
        tell_objections(steps, static_cast<std::uint64_t>(Objection::not_attached));
    }
}

void look_at_attachment(const Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    int has_met = 0;
    corymb_status status = library().process_team_try_meet(steps.arriving, &has_met);
    if (status == CORYMB_OK && has_met != 0) {
        status = library().process_team_join(steps.arriving, communicator.rank, &steps.made.team);
    }
    if (status != CORYMB_OK) {
        tell_objections(steps, static_cast<std::uint64_t>(Objection::not_attached));
    } else if (has_met != 0) {
        tell_objections(steps, 0);
    }
    if (status != CORYMB_OK || has_met != 0) {
        give_back(CORYMB_HANDLE_PROCESS_TEAM, steps.arriving);
    }
}

/// The team is the communicator's: the kept one, or the one that was made.
void take_team(Communicator& communicator) noexcept {
    EarlySteps& steps = *communicator.steps;
    RankTeam& own = communicator;
    if (steps.stage == Stage::proposed) {
        own = std::exchange(steps.offer, RankTeam{});
        own.sync_points.begin_again();
    } else {
        own = std::exchange(steps.made, RankTeam{});
        begin_use(own, own.crowd > 1, steps.mpi_keeps_cpus);
    }
}

/// Step 5.
bool begin_on_team(Communicator& communicator) noexcept {
    EarlySteps& steps = *communicator.steps;
    take_team(communicator);
    steps.end();
    steps.stage = Stage::team;
    steps.calls_before_team = steps.calls - 1;
    note_team();
    return true;
}

/// The terms of all ranks are there. True: they go on with a kept team.
bool end_terms(Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    Agreement agreement;
    steps.terms.ask(agreement);
    take_all(steps, agreement, communicator.size);
    const Terms& all = steps.terms;
    if (all.objections != 0) {
        end_steps(communicator, texts_of(all.objections));
        return false;
    }
    if (all.has_kept && all.is_one_kept) {
        return begin_on_team(communicator);
    }
    give_up(std::exchange(steps.offer, RankTeam{}));
    if (all.has_kept) { // Once more, without.
        tell_terms(communicator);
    } else if (all.no_thread || all.pass_by) {
        end_steps(communicator, text_of(all.pass_by ? Reason::passed_by : Reason::no_hook));
    } else {
        map_memory(communicator);
    }
    return false;
}

/// A step has ended, with the call that begins. True: it was the last one.
bool end_step(Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    if (steps.stage == Stage::proposed) {
        return end_terms(communicator);
    }
    if (const std::uint64_t objections = all_objections_on_board(steps, communicator.size);
        objections != 0) {
        end_steps(communicator, texts_of(objections));
        return false;
    }
    if (steps.stage == Stage::mapped) {
        begin_to_attach(communicator);
        return false;
    }
    return begin_on_team(communicator);
}

bool go_on(Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    if (steps.question.is_under_way) {
        look_for_answer(communicator);
    }
    if (steps.calls == first_call && !steps.question.is_asked) {
        ask(communicator);
    }
    if (steps.stage == Stage::early && is_time(communicator)) {
        begin_terms(communicator);
    }
    if (steps.stage == Stage::attaching && steps.arriving != nullptr) {
        look_at_attachment(communicator);
    }
    if (steps.stage < Stage::proposed || steps.stage > Stage::attaching) {
        return false;
    }
    steps.has_ended = steps.board->end().ends();
    steps.has_looked = !steps.has_ended;
    return steps.has_ended && end_step(communicator);
}

} // namespace

bool take_steps(Communicator& communicator) noexcept {
    EarlySteps& steps = *communicator.steps;
    ++steps.calls;
    steps.has_looked = false;
    steps.has_ended = std::exchange(steps.is_again, false);
    if (steps.has_ended) {
        return false;
    }
    try {
        return go_on(communicator);
    } catch (const std::exception&) {     // No memory, or an invariant of the board.
        if (steps.made.team != nullptr) { // The others may come to use the team.
            library().team_abandon(steps.made.team, "no memory on the way to a team");
        }
        steps.end();
        return false;
    }
}

void take_back_steps(Communicator& communicator) noexcept {
    EarlySteps& steps = *communicator.steps;
    --steps.calls;
    if (std::exchange(steps.has_looked, false) && steps.board != nullptr) {
        steps.board->end().take_back();
    }
    steps.is_again = std::exchange(steps.has_ended, false);
}

bool go_on_with_steps(Communicator& communicator) {
    EarlySteps& steps = *communicator.steps;
    std::uint64_t before = steps.calls_before_team;
    bool keeps_cpus = steps.mpi_keeps_cpus;
    Agreement agreement;
    agreement.largest(before);
    agreement.any(keeps_cpus);
    if (!agree(agreement, communicator.comm)) {
        return false;
    }
    // A rank has made more nonblocking calls than this one.
    if (!communicator.has_requests_on_team) {
        steps.mpi_keeps_cpus = keeps_cpus;
        take_team(communicator);
        steps.end();
        communicator.early_requests = before - steps.calls;
    }
    return true;
}

} // namespace corymb::mpi

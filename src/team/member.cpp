// SPDX-License-Identifier: Apache-2.0
#include "team/member.hpp"

#include "base/assert.hpp"
#include "base/clock.hpp"
#include "team/ask_again.hpp"
#include "team/blame.hpp"
#include "team/disagreement.hpp"
#include "team/leaving.hpp"
#include "team/request_wait.hpp"
#include "team/statistics.hpp"
#include "team/team_plans.hpp"
#include "team/tuning.hpp"

#include <exception>
#include <string>
#include <utility>

namespace corymb::detail {

namespace {

// When a wait begins to ask whether it can still end. A process may die at any time; threads can
// only call something else, so that they need not be woken to look for it early.
constexpr std::int64_t watch_processes_ns = 1'000'000;
constexpr std::int64_t watch_threads_ns = 10'000'000;

/// Whether a barrier behind it is planned for its root to leave it first.
bool wants_root_first(const team::CallTerms& call) {
    return team::sends_from_root(call) &&
           (team::is_vector(call) || call.bytes <= team::tuning::root_first_bytes_most);
}

} // namespace

Member::Member(std::shared_ptr<TeamShared> team, Rank own_rank)
    : shared(std::move(team)), rank(own_rank), whole_rank(own_rank),
      whole_size(shared->fabric.size()),
      ladder_(shared->fabric.state(own_rank).spot, shared->record.broken,
              {shared->options.wait, shared->oversubscribed, shared->ranks_per_cpu(),
               shared->deadline_ns, shared->crowd, static_cast<std::size_t>(own_rank),
               shared->cpus_of_waiters, this,
               shared->company ? watch_processes_ns : watch_threads_ns,
               shared->options.interrupted_every.count() > 0 ? &visitor_ : nullptr,
               shared->options.interrupted_every.count()}),
      engine_(ladder_, own_rank, shared->gate_of(own_rank)),
      exceptions_before_(std::uncaught_exceptions()), lane_(*shared, own_rank, 0) {}

Member::~Member() {
    on_stop_.reset();
    if (user.is_inherited()) {
        return;
    }
    wide.reset();
    team::CallsInAll calls{operations_, digest_};
    if (pending_) {
        pending_->complete_quietly();
        pending_->add_to(calls);
    }
    pending_.reset();
    try {
        const bool is_thrown = std::uncaught_exceptions() > exceptions_before_;
        leave(*shared, rank, is_thrown ? std::nullopt : std::optional(calls));
    } catch (const std::exception&) { // No memory to tell the others more than that it is gone.
        change_if_possible(*shared->memory, [this] {
            shared->fabric.state(rank).gone.store(1, std::memory_order_relaxed);
        });
    }
}

const Plan& Member::plan(const team::PlanKey& key) {
    team::PlanKey other = key;
    other.stays = true; // The types of the elements are unknown here.
    for (const team::PlanKey* one : {&key, static_cast<const team::PlanKey*>(&other)}) {
        if (const Plan* const known = lane_.plan_in_use(*one)) {
            return *known;
        }
    }
    return shared->plans->in_use(key, rank);
}

void Member::warm_up(const team::PlanKey& key) {
    if (wide != nullptr) {
        static_cast<void>(wide->plan(key));
        return;
    }
    shared->throw_if_broken();
    lane_.take_best(key);
}

void let_go(Member* member) noexcept {
    if (member->user.is_inherited()) {
        // Requests are the parent's, and look at this member when they go.
        if (!member->has_requests()) {
            delete member;
        }
        return;
    }
    static_cast<void>(member->user.enter_when_free());
    delete member;
}

void Member::span(std::unique_ptr<WideTeam> over_nodes, Rank of_all, int count) {
    recent_calls_.forget();
    wide = std::move(over_nodes);
    whole_rank = of_all;
    whole_size = count;
}

void Member::require_one_node(const char* what, const char* why) const {
    if (wide != nullptr) {
        throw Error(Errc::unsupported, std::string(what) + " of a team over several nodes: " + why);
    }
}

Operation& Member::make(const Call& call, bool is_persistent, std::shared_ptr<const void> keep) {
    return wide != nullptr ? wide->make(call, is_persistent, std::move(keep))
                           : pending().make(call, is_persistent, std::move(keep));
}

std::size_t Member::progress() {
    return wide != nullptr ? wide->progress() : pending().progress();
}

void Member::complete_all() {
    if (wide != nullptr) {
        wide->complete_all();
    } else {
        pending().complete_all();
    }
}

ChosenPlan Member::chosen_plan(const team::PlanKey& key) {
    return wide != nullptr ? wide->plan(key)
                           : ChosenPlan{key.op, key.root, key.bytes, plan(key).algorithm};
}

std::vector<ChosenPlan> Member::chosen_plans() const {
    return wide != nullptr ? wide->chosen_plans() : shared->plans->chosen();
}

TeamStatistics Member::statistics() const {
    if (wide != nullptr) {
        return wide->statistics();
    }
    TeamStatistics all = statistics_of(ladder_.record(), whole_size);
    all.plans = chosen_plans();
    return all;
}

void Member::abandon(const std::string& why) {
    if (wide != nullptr) {
        wide->abandon(why);
    } else {
        shared->abandon(rank, why);
    }
}

Pending& Member::pending() {
    if (!pending_) [[unlikely]] {
        pending_ = std::make_unique<Pending>(*shared, rank, ladder_, user);
        pending_->set_deadline(deadline_ns());
    }
    return *pending_;
}

// Flattened: between two small operations of a peer lies all that this does, and the calls of the
// engine's and the channels' little functions were a fifth of it. Code for failures is marked
// `cold` and stays out of line. Flattened as well, it took registers and 15 % of the time of a
// barrier of two ranks.
[[gnu::flatten]] void Member::barrier() {
    if (wide != nullptr) [[unlikely]] {
        wide->run({});
        return;
    }
    if (shared->oversubscribed) {
        choose_barrier();
    }
    const auto run = [this] {
        begin({});
        execute({}, *barrier_, nothing_, barrier_key_);
    };
    try {
        if (barrier_ == nullptr || !LaneEnd::counts(*barrier_)) [[unlikely]] {
            barrier_ = &lane_.program_for(barrier_key_);
            make_first(run, *barrier_);
        } else {
            run();
        }
    } catch (...) {
        tell_broken_invariant(*shared, rank);
        throw;
    }
    if (pending_ && shared->oversubscribed) {
        let_root_leave_first();
    }
}

/// Makes the first call of a program and measures its time, an example of the calls that follow.
/// The time that its plan took is a part of the call. A function of its own, because the way of
/// most calls has no room for it.
template <class Make>
[[gnu::noinline]] void Member::make_first(const Make& make, Program& program) {
    ladder_.set_late(lane_.take_planning_ns());
    const std::int64_t begin = now_ns();
    make();
    program.call_ns = now_ns() - begin;
    ladder_.set_late(0);
}

/// Nonblocking and persistent calls may cross with blocking ones, so no plan can be chosen by them.
/// But each rank may stay until the root of the last one has left the barrier, too.
[[gnu::noinline]] void Member::let_root_leave_first() noexcept {
    const Rank root = pending_->take_root();
    if (root < 0 || root == rank) {
        return;
    }
    auto has_left = [&finished = shared->fabric.state(root).finished, this]() noexcept {
        return finished.load(std::memory_order_relaxed) >= operations_;
    };
    ladder_.let_go_first(root, has_left);
}

/// Ranks that take turns on CPUs leave a barrier as their turns come. If a rank then waits for data
/// of the root, it gives its turn away until the root has had one. So the root had better leave
/// first. A caller of an operation with a root mostly calls it again, and all ranks have called the
/// same.
[[gnu::noinline]] void Member::choose_barrier() {
    const auto last = shared->fabric.state(rank).calls.read(operations_);
    team::PlanKey key;
    if (last && wants_root_first(*last)) {
        key.root = team::root_of(*last);
        key.root_first = true;
    }
    if (key != barrier_key_) {
        barrier_key_ = key;
        barrier_ = nullptr;
    }
}

[[gnu::flatten]] void Member::run(const CollectiveOperation& operation) {
    perform(recent_calls_.call_for(*this, operation));
}

[[gnu::flatten]] void Member::run(KnownCall& known, const void* input, void* output) {
    if (!known.may_have(input, output)) [[unlikely]] {
        CollectiveOperation operation = known.operation();
        operation.input = input;
        operation.output = output;
        known.prepare(*this, operation);
    }
    known.set_buffers(input, output);
    perform(known.prepared());
}

void Member::perform(PreparedCall& prepared) try {
    Call& call = prepared.call;
    if (wide != nullptr) [[unlikely]] {
        wide->run(call);
        return;
    }
    if (call.is_nothing) { // The call still counts as an operation: all ranks call it.
        begin(call.terms);
        tell(call.terms);
        end();
        return;
    }
    team::Operands& operands = call.operands; // In place: a copy would take as long as a message.
    const bool is_first = prepared.program == nullptr || !LaneEnd::counts(*prepared.program);
    if (is_first) [[unlikely]] {
        prepared.program = &lane_.program_for(call.key);
        set_block_bytes(operands, *prepared.program);
    }
    Program& program = *prepared.program;
    if (const std::size_t need = scratch_bytes(operands, program); need > scratch_.size()) {
        scratch_.resize(need);
    }
    CORYMB_ASSERT(scratch_.size() >= scratch_bytes(operands, program));
    set_scratch(operands, program, scratch_.data());
    if (is_first) [[unlikely]] {
        make_first(
            [&] {
                begin(call.terms);
                execute(call.terms, program, operands, call.key);
            },
            program);
    } else {
        begin(call.terms);
        execute(call.terms, program, operands, call.key);
    }
} catch (...) {
    tell_broken_invariant(*shared, rank);
    throw;
}

void Member::begin(team::CallTerms terms) {
    ++operations_;
    digest_.add(terms);
    // Peers must not go on with an operation that this rank gives up.
    if (shared->is_broken()) [[unlikely]] {
        refuse(terms);
    }
    CORYMB_DEBUG_ASSERT(shared->fabric.state(rank).finished.load(std::memory_order_relaxed) + 1 ==
                        operations_);
}

/// The team broke before this operation.
[[gnu::cold, gnu::noinline]] void Member::refuse(team::CallTerms terms) {
    tell(terms);
    if (limits_.stop.stop_requested()) { // Between two calls.
        shared->throw_failure();
    }
    shared->throw_broken();
}

/// Records that the rank is in its next operation, for ranks that ask.
void Member::tell(const team::CallTerms& terms) {
    auto& state = shared->fabric.state(rank);
    state.calls.write(operations_, terms);
    state.started.store(operations_, std::memory_order_relaxed);
}

/// Sends first what the peers wait for: all that a rank does before the send makes a small
/// operation longer.
void Member::execute(const team::CallTerms& terms, Program& program, team::Operands& operands,
                     const team::PlanKey& key) {
    operands.signature = digest_.signature();
    team::Activation<team::Env> activation{&program, &operands};
    bool is_done = false;
    try {
        activation.step = engine_.lead(program, operands);
        tell(terms);
        ladder_.begin_operation(team::moved_bytes(key.op, operands, shared->fabric.size()));
        is_done = engine_.run(activation);
        CORYMB_ASSERT(is_done == activation.is_done());
        CORYMB_ASSERT(is_done || may_give_up());
    } catch (...) { // This rank is in the middle of the plan for good.
        fail_by_exception();
        throw;
    }
    if (!is_done) [[unlikely]] {
        fail(key, activation.step_of_plan());
    }
    end();
}

/// Whether there is a reason to leave an operation before its end.
[[gnu::cold, gnu::noinline]] bool Member::may_give_up() const noexcept {
    return ladder_.timed_out() || ladder_.is_lost() || engine_.met_other_call() ||
           engine_.cannot_copy() || shared->is_broken();
}

[[gnu::cold, gnu::noinline]] void Member::fail_by_exception() {
    shared->fail(blame_exception(*shared, rank, std::current_exception()));
    shared->wait_for_copies();
}

void Member::end() {
    CORYMB_DEBUG_ASSERT(shared->fabric.state(rank).started.load(std::memory_order_relaxed) ==
                        operations_);
    shared->fabric.state(rank).finished.store(operations_, std::memory_order_relaxed);
}

bool Member::is_interrupted() noexcept {
    try {
        return shared->options.interrupted && shared->options.interrupted() &&
               interrupt(" was interrupted");
    } catch (const std::exception&) {
        return false;
    }
}

/// False, and nothing done, without memory to tell the others.
bool Member::interrupt(const char* why) noexcept {
    if (wide != nullptr) {
        return wide->interrupt(why);
    }
    try {
        shared->fail({Errc::interrupted, shared->name_of(rank) + why, {rank}});
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

std::int64_t Member::deadline_ns() const noexcept {
    return limits_.deadline.count() > 0 ? bounded_ns(limits_.deadline) : shared->deadline_ns;
}

void Member::set_limits(const CallLimits& limits) {
    if (limits.deadline.count() < 0) {
        throw Error(Errc::invalid_argument, "the deadline of the limits is negative; give the "
                                            "longest wait, or 0 for the deadline of the team");
    }
    on_stop_.reset();
    limits_ = limits;
    ladder_.set_deadline(deadline_ns());
    lane_.set_deadline(deadline_ns());
    if (pending_) {
        pending_->set_deadline(deadline_ns());
    }
    if (wide != nullptr) {
        wide->set_deadline(deadline_ns());
    }
    if (limits_.stop.stop_possible()) {
        on_stop_.emplace(limits_.stop, OnStop{this});
    }
}

/// Why the blocking operation that this rank waits in cannot end, if it is in one.
std::optional<team::Failure> Member::contradiction() {
    const auto& own = shared->fabric.state(rank);
    if (own.finished.load(std::memory_order_relaxed) == operations_) {
        return std::nullopt; // The rank waits for a request.
    }
    auto found = doubts_.contradiction(*shared, 0, rank, {operations_, ladder_.expected()}, digest_,
                                       engine_.cannot_copy() ? 0 : long_waits_ + 1);
    if (!found && (pending_ == nullptr || !pending_->is_under_way())) {
        found = waits_in_request(*shared, rank, ladder_.expected());
    }
    return found;
}

bool Member::is_lost() noexcept {
    try {
        ++long_waits_;
        if (pending_ != nullptr) {
            pending_->note_long_wait();
        }
        if (is_interrupted()) {
            return true;
        }
        return contradiction() || !shared->lost(operations_).empty() ||
               (pending_ != nullptr && (pending_->why_stopped() || pending_->hopeless()));
    } catch (const std::exception&) {
        return false; // No memory to find out; the deadline is still there.
    }
}

team::Failure Member::reason(const team::PlanKey& key, std::size_t step) {
    if (engine_.met_other_call()) {
        const auto differ =
            ask_again([this] { return disagreement(*shared, 0, operations_); },
                      [](const auto& found) { return found.has_value(); }, logs_are_late);
        return differ ? *differ
                      : foreign_message(*shared, 0, rank, ladder_.expected(), operations_);
    }
    if (auto differ = contradiction()) {
        return *differ;
    }
    if (ladder_.is_lost() && pending_ != nullptr) {
        for (const auto& known : {pending_->why_stopped(), pending_->hopeless()}) {
            if (known) {
                return *known;
            }
        }
    }
    const bool timed_out = ladder_.timed_out();
    const auto now_lost = [this] {
        return shared->lost(operations_);
    };
    const auto lost = engine_.cannot_copy() ? lost_soon(now_lost)
                      : ladder_.is_lost()   ? now_lost()
                                            : std::vector<int>{};
    const auto missing = timed_out ? shared->missing(operations_) : std::vector<int>{};
    return blame(*shared, {rank, key, lane_.plan_in_use(key), operations_, step, deadline_ns(),
                           missing, lost, timed_out, ladder_.late_ns()});
}

[[gnu::cold, gnu::noinline]] void Member::fail(const team::PlanKey& key, std::size_t step) {
    if (!shared->is_broken()) {
        shared->fail(reason(key, step));
    }
    shared->wait_for_copies(); // The caller may free its buffers now.
    shared->throw_failure();
}

} // namespace corymb::detail

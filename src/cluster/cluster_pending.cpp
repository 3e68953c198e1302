// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_pending.hpp"

#include "base/make_room.hpp"
#include "cluster/attic.hpp"
#include "team/disagreement.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace corymb::cluster {

using State = detail::Operation::State;

namespace {

/// What `make` has made.
FarOperation& own(detail::Operation& operation) noexcept {
    return static_cast<FarOperation&>(operation);
}

/// Lanes that messages of different operations can have.
int lane_count_of(const Station& station) {
    return station.size() == 1 ? nonblocking_lanes_max
                               : std::clamp(station.carrier->lanes(), 0, nonblocking_lanes_max);
}

/// Changes while the operation brings its plan.
std::size_t agreement_of(const FarOperation& operation) noexcept {
    return operation.exchange == nullptr ? 0 : 1 + operation.exchange->moves();
}

} // namespace

ClusterPending::ClusterPending(Station& station)
    : station_(&station),
      looking_(station.shared->fabric.state(station.own).gate, station.shared->record.broken),
      engine_(looking_), patrol_(station.shared->deadline_ns),
      patrol_within_(deadline_within_node(station.shared->deadline_ns)),
      lane_count_(lane_count_of(station)) {}

ClusterPending::~ClusterPending() {
    while (pending_count_ > 0) {
        drain(first_pending());
    }
    for (auto& operation : operations_) {
        operation->driver = nullptr; // Its request owns it from here on.
        static_cast<void>(operation.release());
    }
}

// Making
// -------------------------------------------------------------------------------------------------

FarOperation& ClusterPending::make(const detail::Call& call, std::shared_ptr<const void> keep) {
    if (lane_count_ == 0) {
        throw Error(Errc::unsupported, "the carrier of this team has no channels for nonblocking "
                                       "operations; let Carrier::lanes say how many it has, or "
                                       "call the blocking form");
    }
    const auto turn = static_cast<std::size_t>(started_) % static_cast<std::size_t>(lane_count_);
    if (turn == lanes_.size()) {
        lanes_.emplace_back(*station_->shared, station_->own,
                            cluster_lane + 1 + static_cast<team::LaneId>(turn));
    }
    auto made = std::make_unique<FarOperation>(lanes_[turn], *station_->carrier, station_->carried,
                                               static_cast<int>(turn) + 1);
    FarOperation& operation = *made;
    operation.driver = this;
    operation.call = call;
    operation.keep = std::move(keep);
    operation.index = operations_.size();
    make_room(resumable_, operations_.size() + 1); // So that nothing fails at its end.
    operations_.push_back(std::move(made));
    return operation;
}

void ClusterPending::start(Operation& given) {
    auto& operation = own(given);
    station_->shared->throw_if_broken();
    patrol_.note_progress();
    patrol_within_.note_progress();
    if (!operation.call.is_nothing) {
        operation.key = &keys_[operation.call.key];
    }
    FarLane& lane = *operation.lane;
    lane.queue.push_back(&operation);
    ++started_; // From here on it counts, as on all ranks.
    if (operation.key != nullptr && operation.key->bringer == nullptr && !operation.key->plan) {
        operation.key->bringer = &operation;
    }
    operation.state = State::pending;
    ++pending_count_;
    if (lane.queue.size() == 1) {
        begin(lane);
    }
    go_on();
}

// Going on
// -------------------------------------------------------------------------------------------------

/// The first operation of the lane says that it has begun.
void ClusterPending::begin(FarLane& lane) {
    FarOperation& operation = *lane.queue.front();
    ++lane.begun;
    lane.digest.add(operation.call.terms);
    operation.call.operands.signature = lane.digest.signature();
    lane.state->calls.write(lane.begun, operation.call.terms);
    lane.state->started.store(lane.begun, std::memory_order_relaxed);
}

void ClusterPending::go_on() noexcept {
    for (FarLane& lane : lanes_) {
        if (lane.queue.empty() || has_failed()) {
            continue;
        }
        try {
            go_on(lane);
        } catch (...) {
            stop();
        }
    }
}

void ClusterPending::go_on(FarLane& lane) {
    while (!lane.queue.empty()) {
        FarOperation& operation = *lane.queue.front();
        const std::size_t step = operation.activation.step;
        const std::size_t next = operation.next;
        const std::size_t agreed = agreement_of(operation);
        const bool is_over = operation.key == nullptr || advance(operation);
        if (is_over || operation.activation.step != step || operation.next != next ||
            agreement_of(operation) != agreed) {
            ++lane.moves;
            patrol_.note_progress();
            patrol_within_.note_progress();
        }
        if (!is_over) {
            return;
        }
        lane.state->finished.store(lane.begun, std::memory_order_relaxed);
        lane.queue.pop_front();
        finish(operation, operation.error == nullptr ? State::done : State::failed);
        if (!lane.queue.empty()) {
            begin(lane);
        }
    }
}

bool ClusterPending::advance(FarOperation& operation) {
    FarKey& key = *operation.key;
    if (!key.plan) {
        if (key.bringer != &operation) {
            operation.awaited = key.bringer->awaited;
            return false;
        }
        if (!bring_plan(operation)) {
            return false;
        }
    }
    FarPlan& plan = *key.plan;
    if (plan.refusal != nullptr) {
        operation.error = plan.refusal;
        return true;
    }
    if (operation.activation.program == nullptr) {
        load(operation, plan);
    }
    return run(operation, plan);
}

bool ClusterPending::bring_plan(FarOperation& operation) {
    const team::PlanKey& key = operation.call.key;
    if (operation.exchange == nullptr) {
        const int mark = Station::mark_of(operation.call.operands.signature);
        operation.exchange = std::make_unique<PlanExchange>(*station_, operation.mail, key, mark);
    }
    if (!operation.exchange->advance()) {
        const Rank peer = operation.exchange->awaited();
        operation.awaited = station_->home.is_far(peer) ? peer : -1;
        return false;
    }
    agree(*operation.key, key, operation.exchange->text());
    operation.exchange.reset();
    return true;
}

void ClusterPending::agree(FarKey& key, const team::PlanKey& which, const std::string& text) {
    FarPlan made;
    made.number = which.number();
    try {
        const Plan plan = station_->plan_of(which, text);
        made.far = far_steps(plan, station_->home, station_->rank);
        made.local = plan_of_node(plan, station_->home);
        made.readers = team::publication_readers(made.local);
    } catch (const Error&) { // All ranks have the same text.
        made.refusal = std::current_exception();
    }
    key.plan.emplace(std::move(made));
    key.bringer = nullptr;
}

/// Compiles the plan for the lane, if no operation has done so, and cuts the payload.
void ClusterPending::load(FarOperation& operation, FarPlan& plan) {
    FarLane& lane = *operation.lane;
    auto& program = lane.programs[&plan];
    if (!program) {
        auto fabric = station_->shared->lane(lane.id);
        program = std::make_unique<team::Program<team::Env>>(
            team::Compiler<team::Env>(fabric, station_->own, lane.peers)
                .compile(plan.local, plan.number, plan.readers));
    }
    team::Operands& operands = operation.call.operands;
    set_block_bytes(operands, *program);
    if (const std::size_t need = scratch_bytes(operands, *program); need > lane.scratch.size()) {
        lane.scratch.resize(need);
    }
    operands.scratch = lane.scratch.data();
    operation.activation.operands = &operands;
    operation.activation.program = program.get();
}

bool ClusterPending::run(FarOperation& operation, const FarPlan& plan) {
    const team::Operands& operands = operation.call.operands;
    while (operation.next < plan.far.size()) {
        const FarStep& step = plan.far[operation.next];
        if (!run_local(operation, step.after)) {
            return false;
        }
        if (is_receive(step.kind)) {
            if (!receive(operation, plan)) {
                return false;
            }
            continue;
        }
        operation.mail.send(step, operands, Station::mark_of(operands.signature));
        ++operation.next;
    }
    if (!run_local(operation, operation.activation.program->steps.size())) {
        return false;
    }
    if (!operation.mail.are_sent()) {
        operation.awaited = operation.mail.last_receiver();
        return false;
    }
    return true;
}

bool ClusterPending::run_local(FarOperation& operation, std::size_t until) {
    auto& activation = operation.activation;
    if (activation.step == until) {
        return true;
    }
    operation.awaited = -1;
    engine_.run(activation, std::min(until - activation.step, steps_of_a_look));
    if (engine_.met_other_call()) {
        const FarLane& lane = *operation.lane;
        station_->fail(station_->local_failure(lane.id, lane.begun, true));
    }
    if (activation.step == until) {
        return true;
    }
    static_cast<void>(operation.mail.are_sent()); // Its messages may need looks to go on.
    return false;
}

/// The receives from the operation's next step on that are posted at once.
bool ClusterPending::receive(FarOperation& operation, const FarPlan& plan) {
    const team::Operands& operands = operation.call.operands;
    if (!operation.mail.has_posted()) {
        const std::span rest = std::span(plan.far).subspan(operation.next);
        operation.mail.post(rest.first(group_size(rest)), operands);
    }
    while (operation.mail.has_posted()) {
        const FarStep& step = plan.far[operation.next];
        Carrier::Arrival arrival;
        if (!operation.mail.test_next(arrival)) {
            operation.awaited = step.peer;
            return false;
        }
        station_->check_mark(arrival, Mail::size_of(step, operands), step.peer,
                             Station::mark_of(operands.signature));
        operation.mail.take(step, operands);
        ++operation.next;
    }
    return true;
}

void ClusterPending::finish(FarOperation& operation, State state) {
    operation.state = state;
    --pending_count_;
    if (operation.coroutine) {
        resumable_.push_back(&operation);
    }
}

void ClusterPending::stop() noexcept {
    if (thrown_ == nullptr) {
        thrown_ = std::current_exception();
    }
    try {
        station_->break_team();
    } catch (...) { // No memory for the reason. The others miss this rank by their deadline.
    }
}

// Completing
// -------------------------------------------------------------------------------------------------

FarOperation& ClusterPending::first_pending() noexcept {
    const auto lane =
        std::ranges::find_if(lanes_, [](const FarLane& one) { return !one.queue.empty(); });
    return *lane->queue.front();
}

void ClusterPending::consume(Operation& operation) {
    const State state = std::exchange(operation.state, State::idle);
    if (state == State::failed) {
        if (operation.error != nullptr) {
            std::rethrow_exception(operation.error);
        }
        throw_failure();
    }
}

bool ClusterPending::look_once(Operation& operation) {
    if (operation.state == State::pending) {
        go_on();
    }
    return operation.state != State::pending;
}

bool ClusterPending::test(Operation& operation) {
    if (!look_once(operation)) {
        if (must_fail()) {
            give_up(&own(operation));
            throw_failure();
        }
        return false;
    }
    consume(operation);
    return true;
}

void ClusterPending::wait(Operation& operation) {
    wait_until_over(own(operation));
    consume(operation);
}

bool ClusterPending::cancel(Operation& /*operation*/) {
    return false;
}

void ClusterPending::wait_until_over(FarOperation& operation) {
    NetworkPatience patience(station_->shared->oversubscribed);
    while (!look_once(operation)) {
        patience.follow(operation.lane->moves);
        if (has_failed() ||
            (patience.is_long() && must_end(patience, *operation.lane->queue.front()))) {
            give_up(&operation);
            return;
        }
    }
}

std::size_t ClusterPending::wait_any(const std::vector<Operation*>& operations) {
    NetworkPatience patience(station_->shared->oversubscribed);
    for (;;) {
        go_on();
        const auto found = std::ranges::find_if(operations, [](const Operation* operation) {
            return operation->state != State::pending;
        });
        if (found != operations.end()) {
            return static_cast<std::size_t>(found - operations.begin());
        }
        FarOperation& first = own(*operations.front());
        patience.follow(first.lane->moves);
        if (has_failed() ||
            (patience.is_long() && must_end(patience, *first.lane->queue.front()))) {
            give_up(&first);
        }
    }
}

void ClusterPending::drain(Operation& operation) noexcept {
    if (operation.state != State::pending) {
        return;
    }
    try {
        if (std::uncaught_exceptions() == 0) {
            wait_until_over(own(operation));
            return;
        }
        station_->shared->fail({Errc::team_broken,
                                station_->name_of(station_->rank) +
                                    " left with an exception while an operation was under way",
                                {station_->rank}});
        station_->shared->wait_for_copies();
    } catch (...) { // The team is broken: everybody has been told or will be.
    }
    abandon_all();
}

void ClusterPending::forget(Operation& given) noexcept {
    auto& operation = own(given);
    std::erase(resumable_, &given);
    auto& slot = operations_[operation.index];
    const std::unique_ptr<FarOperation> mine = std::move(slot);
    if (&slot != &operations_.back()) {
        slot = std::move(operations_.back());
        slot->index = mine->index;
    }
    operations_.pop_back();
}

bool ClusterPending::must_fail() {
    if (has_failed()) {
        return true;
    }
    auto& patrol = first_pending().awaited < 0 ? patrol_within_ : patrol_;
    switch (patrol.after_failed_test()) {
    case detail::Patrol::Duty::none: return false;
    case detail::Patrol::Duty::give_up: return true;
    case detail::Patrol::Duty::look_around: break;
    }
    return is_hopeless();
}

bool ClusterPending::must_end(NetworkPatience& patience, const FarOperation& blamed) {
    const std::int64_t deadline_ns = station_->shared->deadline_ns;
    if (patience.waited_ns() >=
        (blamed.awaited < 0 ? deadline_within_node(deadline_ns) : deadline_ns)) {
        return true;
    }
    const bool must_watch = patience.must_watch();
    const std::int64_t ask_every_ns = station_->shared->options.interrupted_every.count();
    const bool must_ask = must_watch || (ask_every_ns > 0 && patience.must_ask(ask_every_ns));
    return (must_ask && station_->is_interrupted()) || (must_watch && is_hopeless());
}

bool ClusterPending::is_hopeless() noexcept {
    try {
        return hopeless().has_value();
    } catch (...) { // Another rank has failed meanwhile, or there is no memory to find out.
        return has_failed();
    }
}

std::optional<team::Failure> ClusterPending::hopeless() {
    for (const FarLane& lane : lanes_) {
        if (lane.queue.empty()) {
            continue;
        }
        if (auto differ = detail::disagreement(*station_->shared, lane.id, lane.begun)) {
            return station_->as_seen_by_all(std::move(*differ));
        }
        if (!station_->lost(lane.id, lane.begun).empty()) {
            return station_->local_failure(lane.id, lane.begun, false);
        }
    }
    return std::nullopt;
}

team::Failure ClusterPending::reason(const FarOperation& operation) {
    if (auto known = hopeless()) {
        return *known;
    }
    const FarLane& lane = *operation.lane;
    const FarOperation& blamed = *lane.queue.front();
    team::Failure failure = blamed.awaited >= 0
                                ? station_->vain_wait(blamed.awaited)
                                : station_->local_failure(lane.id, lane.begun, false);
    failure.text = std::string(to_string(blamed.call.key.op)) + " (nonblocking operation " +
                   std::to_string(lane.begun) + " on lane " + std::to_string(lane.id) +
                   "): " + failure.text;
    return failure;
}

void ClusterPending::give_up(const FarOperation* blamed) noexcept {
    try {
        if (!has_failed()) {
            station_->shared->fail(reason(*blamed));
        }
    } catch (...) { // No memory for the reason, or the team was broken meanwhile.
    }
    if (has_failed()) {
        station_->shared->wait_for_copies(); // The caller may free its buffers now.
    }
    abandon_all();
}

void ClusterPending::abandon_all() noexcept {
    for (FarLane& lane : lanes_) {
        while (!lane.queue.empty()) {
            FarOperation& operation = *lane.queue.front();
            lane.queue.pop_front();
            if (operation.mail.abandon_all()) {
                keep_for_good(std::move(operation.exchange));
                keep_for_good(std::exchange(lane.scratch, {}));
            }
            operation.exchange.reset();
            finish(operation, State::failed);
        }
    }
    for (auto& [of, key] : keys_) {
        key.bringer = nullptr;
    }
}

std::uint64_t ClusterPending::moves() const noexcept {
    std::uint64_t sum = 0;
    for (const FarLane& lane : lanes_) {
        sum += lane.moves;
    }
    return sum;
}

void ClusterPending::throw_failure() {
    if (thrown_ != nullptr) {
        std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    station_->shared->throw_failure();
}

// Coroutines
// -------------------------------------------------------------------------------------------------

void ClusterPending::resume_coroutines() {
    while (!resumable_.empty()) {
        Operation& operation = *resumable_.front();
        resumable_.erase(resumable_.begin());
        std::exchange(operation.coroutine, {}).resume();
    }
}

std::size_t ClusterPending::progress() {
    go_on();
    if (pending_count_ > 0 && must_fail()) {
        give_up(pending_count_ > 0 ? &first_pending() : nullptr);
    }
    resume_coroutines();
    return pending_count_;
}

void ClusterPending::complete_all() {
    go_on();
    resume_coroutines();
    while (pending_count_ > 0) {
        NetworkPatience patience(station_->shared->oversubscribed);
        const std::size_t before = pending_count_;
        while (pending_count_ == before) {
            go_on();
            patience.follow(moves());
            if (has_failed() || (pending_count_ == before && patience.is_long() &&
                                 must_end(patience, first_pending()))) {
                give_up(pending_count_ > 0 ? &first_pending() : nullptr);
                resume_coroutines(); // They are told first.
                throw_failure();
            }
        }
        resume_coroutines();
    }
}

} // namespace corymb::cluster

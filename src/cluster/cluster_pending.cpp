// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_pending.hpp"

#include "base/make_room.hpp"
#include "team/disagreement.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <utility>

namespace corymb::cluster {

using State = detail::Operation::State;

namespace {

/// The operation that `make` has made.
FarOperation& own(detail::Operation& operation) noexcept {
    return static_cast<FarOperation&>(operation);
}

/// Lanes that messages of different operations can have.
int lane_count_of(const Station& station) {
    return station.size() == 1 ? nonblocking_lanes_max
                               : std::clamp(station.carrier->lanes(), 0, nonblocking_lanes_max);
}

/// Persistent operations that can be made.
int own_lane_count_of(const Station& station) {
    constexpr int most = std::numeric_limits<int>::max() / 2 - nonblocking_lanes_max - 1;
    return station.size() == 1 ? most : std::clamp(station.carrier->own_lanes(), 0, most);
}

/// Changes while the operation brings its plan.
std::size_t agreement_of(const FarOperation& operation) noexcept {
    return operation.exchange == nullptr ? 0 : 1 + operation.exchange->moves();
}

/// Changes with every step within the node.
std::size_t steps_of(const FarOperation& operation) noexcept {
    return operation.activation.step +
           (operation.vector == nullptr ? 0 : operation.vector->telling.step);
}

} // namespace

ClusterPending::ClusterPending(Station& station, OneUser& of_handle)
    : Driver(of_handle), station_(&station),
      looking_(station.shared->fabric.state(station.own).gate, station.shared->record.broken),
      engine_(looking_), patrol_(station.deadline_ns),
      patrol_within_(deadline_within_node(station.deadline_ns)),
      lane_count_(lane_count_of(station)), own_lane_count_(own_lane_count_of(station)),
      agreements_(station) {}

ClusterPending::~ClusterPending() {
    while (pending_count_ > 0) {
        drain(first_pending());
    }
    finish_agreements();
    for (auto& operation : operations_) {
        if (operation->is_persistent) {
            station_->give_back_own_lane(operation->lane->id);
        }
        operation->driver = nullptr; // The operation's request owns it from here on.
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
    const auto turn = static_cast<int>(started_ % static_cast<std::uint64_t>(lane_count_));
    FarLane& lane = lane_of(cluster_lane + 1 + static_cast<team::LaneId>(turn));
    return add(lane, turn + 1, call, std::move(keep));
}

FarOperation& ClusterPending::make_persistent(const detail::Call& call,
                                              std::shared_ptr<const void> keep) {
    if (own_made_ >= own_lane_count_) { // All ranks fail here together.
        throw Error(Errc::unsupported,
                    own_lane_count_ == 0
                        ? "the carrier of this team has no channels for persistent operations; let "
                          "Carrier::own_lanes say how many it has, or call the nonblocking form"
                        : "this team has made " + std::to_string(own_made_) +
                              " persistent operations, and its carrier has no channels for more; "
                              "start some again instead, or make another team");
    }
    const int channels = nonblocking_lanes_max + ++own_made_;
    const team::LaneId id = take_own_lane();
    FarOperation* made = nullptr;
    try {
        made = &add(lane_of(id), channels, call, std::move(keep));
    } catch (...) {
        station_->give_back_own_lane(id);
        throw;
    }
    made->is_persistent = true; // From here on `forget` gives the lane back.
    made->digest.add(call.terms);
    try {
        if (!call.is_nothing) {
            made->key = &agreements_.key_for(call.key, channels,
                                             Station::mark_of(made->digest.signature()));
        }
    } catch (...) {
        forget(*made);
        throw;
    }
    go_on();
    return *made;
}

/// A lane for the operation that is being made. This rank may be far ahead of others on its node:
/// then it waits.
team::LaneId ClusterPending::take_own_lane() {
    NetworkPatience patience(station_->shared->oversubscribed);
    for (;;) {
        if (const auto lane = station_->take_own_lane(static_cast<std::uint64_t>(own_made_))) {
            return *lane;
        }
        detail::require_own_lanes(
            std::ranges::count_if(operations_, [](const auto& one) { return one->is_persistent; }));
        go_on();
        if (has_failed()) {
            throw_failure();
        }
        if (patience.is_long() && patience.waited_ns() > station_->deadline_ns) {
            station_->fail({Errc::timeout,
                            station_->name_of(station_->rank) +
                                " makes a persistent operation, and others have not let go of any "
                                "of the many before it",
                            {station_->rank}});
        }
    }
}

FarLane& ClusterPending::lane_of(team::LaneId id) {
    return lanes_.try_emplace(id, *station_->shared, station_->own, id).first->second;
}

/// Uses the carrier's channels of that number.
FarOperation& ClusterPending::add(FarLane& lane, int channels, const detail::Call& call,
                                  std::shared_ptr<const void> keep) {
    auto made =
        std::make_unique<FarOperation>(lane, *station_->carrier, station_->carried, channels);
    FarOperation& operation = *made;
    operation.driver = this;
    operation.call = call;
    operation.keep = std::move(keep);
    operation.index = operations_.size();
    // Room for all operations, so that their ends cannot fail.
    make_room(resumable_, operations_.size() + 1);
    make_room(busy_, lanes_.size());
    operations_.push_back(std::move(made));
    return operation;
}

void ClusterPending::start(Operation& given) {
    auto& operation = own(given);
    station_->shared->throw_if_broken();
    patrol_.note_progress();
    patrol_within_.note_progress();
    if (operation.is_persistent) {
        operation.activation.step = operation.activation.offset = operation.next = 0;
        operation.vector.reset();
        operation.awaited = -1;
        operation.error = nullptr;
    } else if (!operation.call.is_nothing) {
        operation.key = &keys_[operation.call.key];
    }
    FarLane& lane = *operation.lane;
    lane.queue.push_back(&operation);
    if (!operation.is_persistent) {
        ++started_; // From here on the operation counts, as on all ranks.
        if (FarKey* const key = operation.key; key != nullptr && !key->plan && !key->bringer) {
            key->bringer = &operation;
        }
    }
    operation.state = State::pending;
    ++pending_count_;
    if (lane.queue.size() == 1) {
        busy_.push_back(&lane);
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
    operation.digest.add(operation.call.terms);
    operation.mark = Station::mark_of(operation.is_persistent ? operation.digest.signature()
                                                              : lane.digest.signature());
    lane.state->calls.write(lane.begun, operation.call.terms);
    lane.state->started.store(lane.begun, std::memory_order_relaxed);
}

void ClusterPending::guarded(const auto& action) noexcept {
    try {
        if (!has_failed()) {
            action();
        }
    } catch (...) {
        stop();
    }
}

void ClusterPending::go_on() noexcept {
    if (!agreements_.are_over()) {
        guarded([this] { agreements_.go_on(); });
    }
    for (FarLane* const lane : busy_) {
        guarded([this, lane] { go_on(*lane); });
    }
    std::erase_if(busy_, [](const FarLane* lane) { return lane->queue.empty(); });
}

/// If requests in many lanes are tested one after the other, each test looks at its own lane, and
/// one test of a round looks at all. Otherwise a round would take the square of their number.
bool ClusterPending::look_in_turn(FarOperation& operation) noexcept {
    if (operation.state == State::pending) {
        FarLane& lane = *operation.lane;
        if (lane.tested == round_of_tests_ || busy_.size() <= few_lanes) {
            ++round_of_tests_;
            go_on();
        } else {
            guarded([&] { go_on(lane); });
            if (lane.queue.empty()) {
                std::erase(busy_, &lane);
            }
        }
        lane.tested = round_of_tests_;
    }
    return operation.state != State::pending;
}

void ClusterPending::go_on(FarLane& lane) {
    while (!lane.queue.empty()) {
        FarOperation& operation = *lane.queue.front();
        const std::size_t step = steps_of(operation);
        const std::size_t next = operation.next;
        const std::size_t agreed = agreement_of(operation);
        const bool is_over = operation.key == nullptr || advance(operation);
        if (is_over || steps_of(operation) != step || operation.next != next ||
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
        if (key.bringer != &operation || !bring_plan(operation)) {
            operation.awaited = key.awaited;
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
    if (plan.vector && operation.vector == nullptr) {
        begin_vector(operation, *plan.vector);
    }
    return (!plan.vector || has_laid_out(operation)) && run(operation, plan);
}

bool ClusterPending::bring_plan(FarOperation& operation) {
    const team::PlanKey& key = operation.call.key;
    if (operation.exchange == nullptr) {
        operation.exchange =
            std::make_unique<PlanExchange>(*station_, operation.mail, key, operation.mark);
    }
    if (!operation.exchange->advance()) {
        const Rank peer = operation.exchange->awaited();
        operation.key->awaited = station_->home.is_far(peer) ? peer : -1;
        return false;
    }
    operation.key->plan.emplace(far_plan_of(*station_, key, operation.exchange->text()));
    operation.key->bringer = nullptr;
    operation.exchange.reset();
    return true;
}

void ClusterPending::add_chosen_plans(std::vector<ChosenPlan>& chosen) const {
    for (const auto& [key, known] : keys_) {
        if (known.plan && known.plan->refusal == nullptr) {
            chosen.push_back({key.op, key.root, key.bytes, known.plan->local.algorithm});
        }
    }
}

/// Compiles the plan for the lane, if no operation has done so, and cuts the payload.
void ClusterPending::load(FarOperation& operation, FarPlan& plan) {
    FarLane& lane = *operation.lane;
    auto& program = lane.programs[&plan];
    if (!program) {
        auto fabric = station_->shared->lane(lane.id);
        program = std::make_unique<team::Program<team::Env>>(
            team::Compiler<team::Env>(fabric, station_->own, lane.peers)
                .compile_part(plan.local, plan.number, plan.readers));
    }
    team::Operands& operands = operation.call.operands;
    operation.activation.program = program.get();
    set_block_bytes(operands, *program);
    if (plan.vector) { // The scratch depends on the lengths, which have yet to arrive.
        return;
    }
    if (const std::size_t need = scratch_bytes(operands, *program); need > lane.scratch.size()) {
        lane.scratch.resize(need);
    }
    set_scratch(operands, *program, lane.scratch.data());
    operation.activation.operands = &operands;
}

/// Ranks of the node begin to tell each other lengths, if they have to.
void ClusterPending::begin_vector(FarOperation& operation, const VectorPlan& plan) {
    FarLane& lane = *operation.lane;
    auto vector = std::make_unique<FarVector>(plan, *station_, operation.call.operands);
    if (plan.tells) {
        if (!lane.telling) {
            const TellingPlan how = telling_plan(station_->home.members.size(), plan.pulls);
            auto fabric = station_->shared->lane(lane.id);
            lane.telling =
                team::Compiler<team::Env>(fabric, station_->own, lane.peers)
                    .compile_part(how.plan, how.number, team::publication_readers(how.plan));
        }
        vector->told = vector->run.told(vector->operands.signature);
        vector->telling.program = &*lane.telling;
        vector->telling.operands = &vector->told;
    }
    operation.activation.operands = nullptr;
    operation.vector = std::move(vector);
}

/// Goes on until the lengths are known; then it says where everything is.
bool ClusterPending::has_laid_out(FarOperation& operation) {
    FarVector& vector = *operation.vector;
    if (operation.activation.operands != nullptr) {
        return true;
    }
    auto& telling = vector.telling;
    if (telling.program != nullptr &&
        !run_local(operation, telling, telling.program->steps.size())) {
        return false;
    }
    vector.run.lay_out(vector.operands, operation.lane->scratch);
    operation.activation.operands = &vector.operands;
    return true;
}

bool ClusterPending::run(FarOperation& operation, const FarPlan& plan) {
    const team::Operands& operands = *operation.activation.operands;
    while (operation.next < plan.far.size()) {
        const FarStep& step = plan.far[operation.next];
        if (!run_local(operation, operation.activation, step.after)) {
            return false;
        }
        if (is_receive(step.kind)) {
            if (!receive(operation, plan)) {
                return false;
            }
            continue;
        }
        // A message must not carry data that an operator has not combined.
        station_->shared->throw_if_broken();
        operation.mail.send(step, operands, operation.mark);
        ++operation.next;
    }
    if (!run_local(operation, operation.activation, operation.activation.program->steps.size())) {
        return false;
    }
    if (!operation.mail.are_sent()) {
        operation.awaited = operation.mail.last_receiver();
        return false;
    }
    if (operation.vector != nullptr) {
        operation.vector->run.hand_out();
    }
    return true;
}

bool ClusterPending::run_local(FarOperation& operation, team::Activation<team::Env>& activation,
                               std::size_t until) {
    if (activation.step == until) {
        return true;
    }
    operation.awaited = -1;
    engine_.run(activation, std::min(until - activation.step, steps_of_a_look));
    if (engine_.met_other_call() || engine_.cannot_copy()) {
        const FarLane& lane = *operation.lane;
        station_->fail(station_->local_failure(lane.id, lane.begun, engine_.met_other_call(),
                                               engine_.cannot_copy()));
    }
    if (activation.step == until) {
        return true;
    }
    // Messages of the operation may need looks to go on.
    static_cast<void>(operation.mail.are_sent());
    return false;
}

/// The receives from the operation's next step on that are posted at once.
bool ClusterPending::receive(FarOperation& operation, const FarPlan& plan) {
    const team::Operands& operands = *operation.activation.operands;
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
        if (!Station::is_of_call(arrival, Mail::size_of(step, operands), operation.mark)) {
            station_->fail_foreign(step.peer, detail::describe(operation.call.terms));
        }
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

} // namespace corymb::cluster

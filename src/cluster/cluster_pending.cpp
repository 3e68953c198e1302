// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_pending.hpp"

#include "base/make_room.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace corymb::cluster {

namespace {

using team::tuning::steps_of_a_look;

// Equal to the values of a team within a node (member.cpp).
constexpr std::int64_t watch_processes_ns = 1'000'000;
constexpr std::int64_t watch_threads_ns = 50'000'000;
/// A wait within the node lets the carrier go on first after so long.
constexpr std::int64_t visit_every_ns = 20'000;

channel::WaitLadder::Settings settings_of(const Station& station, channel::Watch& watch,
                                          channel::Watch& visitor) {
    const detail::TeamShared& shared = *station.shared;
    const std::int64_t every_ns = shared.options.interrupted_every.count();
    return {shared.options.wait,
            shared.oversubscribed,
            shared.ranks_per_cpu(),
            deadline_within_node(station.deadline_ns),
            shared.crowd,
            static_cast<std::size_t>(station.own),
            shared.cpus_of_waiters,
            &watch,
            shared.company ? watch_processes_ns : watch_threads_ns,
            &visitor,
            every_ns > 0 ? every_ns : visit_every_ns};
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

} // namespace

ClusterPending::ClusterPending(Station& station, OneUser& of_handle)
    : Executor(*station.shared, of_handle), station_(&station),
      ladder_(station.shared->fabric.state(station.own).spot, station.shared->record.broken,
              settings_of(station, *this, visitor_)),
      engine_(looking_, -1, station.shared->gate_of(station.own)), patrol_(station.deadline_ns),
      patrol_within_(deadline_within_node(station.deadline_ns)),
      lane_count_(lane_count_of(station)), own_lane_count_(own_lane_count_of(station)),
      blocking_lane_(*station.shared, station.own), blocking_(blocking_lane_, station, 0),
      agreements_(station), doubts_(station, *this) {
    make_room_for(blocking_lane_);
}

ClusterPending::~ClusterPending() {
    complete_quietly();
    finish_agreements();
    orphan_all();
    tell_failure();
}

// Blocking operations
// -------------------------------------------------------------------------------------------------

void ClusterPending::run(const detail::Call& call, FarKey* its) {
    const bool is_usual = its == nullptr && !call.is_nothing;
    blocking_.key = is_usual ? blocking_key(call.key).get() : its;
    run_blocking(call);
}

std::unique_ptr<FarKey>& ClusterPending::blocking_key(const team::PlanKey& key) {
    std::unique_ptr<FarKey> made; // First, so that no place is left without one.
    if (!blocking_keys_.contains(key)) {
        made = std::make_unique<FarKey>();
    }
    return blocking_keys_.try_emplace(key, std::move(made)).first->second;
}

std::string ClusterPending::ask(const detail::Call& call, PlanExchange::Answer question) {
    blocking_.key = nullptr;
    blocking_.question = std::move(question);
    try {
        run_blocking(call);
    } catch (...) {
        blocking_.question = nullptr;
        throw;
    }
    blocking_.question = nullptr;
    return std::move(blocking_.answer);
}

void ClusterPending::run_blocking(const detail::Call& call) {
    blocking_.call = call;
    blocking_.activation = {};
    blocking_.vector.reset();
    blocking_.awaited = blocking_.near = -1;
    blocking_.error = nullptr;
    if (has_stopped()) { // It counts all the same: others may look for it.
        blocking_lane_.first = &blocking_;
        begin(blocking_lane_);
        blocking_lane_.first = nullptr;
        shared_->throw_if_broken();
    }
    put_in_queue(blocking_);
    wait(blocking_);
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
    const int channels = notices_pair + ++own_made_;
    made_.write(static_cast<std::uint64_t>(own_made_), call.terms);
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
    made_digest_.add(call.terms);
    starts_sum_ += made->digest.value();
    try {
        if (!call.is_nothing) {
            made->key = &agreements_.key_for(call, channels, made->digest);
        }
    } catch (...) {
        forget(*made);
        throw;
    }
    advance_all(steps_of_a_look);
    return *made;
}

void ClusterPending::give_back_lane(const FarOperation& operation) noexcept {
    if (!operation.is_persistent) {
        return;
    }
    station_->give_back_own_lane(operation.queue->id);
    const int sequence = operation.mail.lane();
    try {
        freed_.push_back(sequence);
    } catch (const std::bad_alloc&) {
        return;
    }
    if (freed_.size() > team::CallLog<team::Env>::entries) { // Others hardly ask any more.
        if (!agreements_.has(freed_.front())) {
            station_->tallies.erase(freed_.front());
        }
        freed_.pop_front();
    }
}

/// A lane for the operation that is being made. This rank may be far ahead of others on its node:
/// then it waits.
team::LaneId ClusterPending::take_own_lane() {
    NetworkPatience patience(shared_->oversubscribed);
    for (;;) {
        if (const auto lane = station_->take_own_lane(static_cast<std::uint64_t>(own_made_))) {
            return *lane;
        }
        detail::require_own_lanes(
            std::ranges::count_if(operations_, [](const auto& one) { return one->is_persistent; }));
        advance_all(steps_of_a_look);
        if (has_stopped()) {
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
    return lanes_.try_emplace(id, *shared_, station_->own, id).first->second;
}

/// Uses the carrier's channels of that number.
FarOperation& ClusterPending::add(FarLane& lane, int channels, const detail::Call& call,
                                  std::shared_ptr<const void> keep) {
    auto made = std::make_unique<FarOperation>(lane, *station_, channels);
    made->call = call;
    made->keep = std::move(keep);
    make_room(busy_, lanes_.size() + 1);
    return hold(std::move(made));
}

void ClusterPending::start(Operation& given) {
    auto& operation = queued(given);
    shared_->throw_if_broken();
    if (operation.is_persistent) {
        operation.activation.step = operation.activation.offset = 0;
        operation.vector.reset();
        operation.awaited = operation.near = -1;
        operation.error = nullptr;
    } else if (!operation.call.is_nothing) {
        operation.key = &keys_[operation.call.key];
    }
    put_in_queue(operation);
    started_ += operation.is_persistent ? 0 : 1; // From here on it counts, as on all ranks.
    advance_all(steps_of_a_look);
}

void ClusterPending::put_in_queue(FarOperation& operation) {
    note_progress();
    ladder_.begin_operation(
        team::moved_bytes(operation.call.key.op, operation.call.operands, station_->size()));
    if (FarKey* const key = operation.key;
        key != nullptr && !operation.is_persistent && !key->plan && key->bringer == nullptr) {
        key->bringer = &operation;
    }
    static_cast<void>(enter(operation));
}

// Going on
// -------------------------------------------------------------------------------------------------

void ClusterPending::begin(FarLane& lane) noexcept {
    FarOperation& operation = *lane.first;
    ++lane.begun;
    lane.digest.add(operation.call.terms);
    operation.call.operands.signature = lane.digest.signature();
    const std::uint64_t digest_before = operation.digest.value();
    operation.digest.add(operation.call.terms);
    starts_sum_ += operation.is_persistent ? operation.digest.value() - digest_before : 0;
    ++operation.starts;
    operation.mark = Station::mark_of(operation.is_persistent ? operation.digest.signature()
                                                              : lane.digest.signature());
    lane.state->calls.write(lane.begun, operation.call.terms);
    lane.state->started.store(lane.begun, std::memory_order_relaxed);
}

void ClusterPending::advance_all(std::size_t steps_left) noexcept {
    if (!agreements_.are_over() && !has_stopped()) {
        try {
            agreements_.go_on();
        } catch (...) {
            stop();
        }
    }
    advance_each(steps_left);
}

bool ClusterPending::advance(FarOperation& operation, std::size_t& steps_left) noexcept {
    const std::size_t step = operation.steps();
    const std::size_t agreed = agreement_of(operation);
    bool is_over = false;
    if (operation.foreign_from >= 0) {
        return false;
    }
    ++operation.queue->looks;
    try {
        is_over = (operation.key == nullptr && !operation.question) || perform(operation);
    } catch (const ForeignMessage& met) {
        operation.foreign_from = operation.awaited = met.from;
        operation.needs_carrier = true;
        return false;
    } catch (...) {
        stop();
        return false;
    }
    const std::size_t moved = operation.steps() - step;
    steps_left -= std::min(steps_left, moved);
    if (is_over || moved != 0 || agreement_of(operation) != agreed) {
        ++operation.queue->moves;
        note_progress();
    }
    return is_over;
}

bool ClusterPending::perform(FarOperation& operation) {
    if (operation.question) {
        return ask(operation);
    }
    FarKey& key = *operation.key;
    if (!key.plan) {
        if (key.bringer != &operation || !bring_plan(operation)) {
            operation.awaited = key.awaited;
            operation.needs_carrier = true;
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
    operation.mail.begin(plan.far, operation.mark);
    if ((plan.vector && !has_laid_out(operation)) || !run(operation, operation.activation)) {
        return false;
    }
    if (!operation.mail.are_sent()) {
        operation.awaited = operation.mail.last_receiver();
        operation.needs_carrier = true;
        return false;
    }
    if (operation.vector != nullptr) {
        operation.vector->run.hand_out();
    }
    return true;
}

/// Rank 0 answers in the middle of it.
bool ClusterPending::ask(FarOperation& operation) {
    if (operation.exchange == nullptr) {
        operation.exchange = std::make_unique<PlanExchange>(*station_, operation.mail,
                                                            operation.mark, operation.question);
    }
    if (!operation.exchange->advance()) {
        const Rank peer = operation.exchange->awaited();
        operation.awaited = station_->home.is_far(peer) ? peer : -1;
        operation.needs_carrier = true;
        return false;
    }
    operation.answer = operation.exchange->text();
    operation.exchange.reset();
    return true;
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

std::vector<ChosenPlan> ClusterPending::chosen_plans() const {
    std::vector<ChosenPlan> chosen;
    const auto add = [&chosen](const team::PlanKey& key, const FarKey& known) {
        if (known.plan && known.plan->refusal == nullptr) {
            chosen.push_back({key.op, key.root, key.bytes, known.plan->local.algorithm});
        }
    };
    for (const auto& [key, known] : blocking_keys_) {
        add(key, *known);
    }
    for (const auto& [key, known] : keys_) {
        add(key, known);
    }
    return chosen;
}

/// Compiles the plan for the lane, if no operation has done so, and cuts the payload.
void ClusterPending::load(FarOperation& operation, FarPlan& plan) {
    FarLane& lane = *operation.queue;
    auto& program = plan.programs[lane.id];
    if (!program) {
        auto fabric = shared_->lane(lane.id);
        program = std::make_unique<team::Program<team::Env>>(
            team::Compiler<team::Env>(fabric, station_->own, lane.peers)
                .compile_part(plan.local, plan.number, plan.readers));
    }
    team::Operands& operands = operation.call.operands;
    operation.activation.program = program.get();
    operation.activation.messages = &operation.mail;
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
    FarLane& lane = *operation.queue;
    auto vector = std::make_unique<FarVector>(plan, *station_, operation.call.operands);
    if (plan.tells) {
        if (!lane.telling) {
            const TellingPlan how = telling_plan(station_->home.members.size(), plan.pulls);
            auto fabric = shared_->lane(lane.id);
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
    if (telling.program != nullptr && !run(operation, telling)) {
        return false;
    }
    vector.run.lay_out(vector.operands, operation.queue->scratch);
    operation.activation.operands = &vector.operands;
    return true;
}

/// Goes on as far as it can at once; true: all steps are done.
bool ClusterPending::run(FarOperation& operation, team::Activation<team::Env>& activation) {
    if (activation.is_done()) {
        return true;
    }
    const bool is_done = engine_.run(activation, steps_of_a_look);
    if (engine_.met_other_call() || engine_.cannot_copy()) {
        const FarLane& lane = *operation.queue;
        station_->fail(station_->local_failure(lane.told, lane.begun, engine_.met_other_call(),
                                               engine_.cannot_copy()));
    }
    const bool is_far =
        !is_done && activation.program->steps[activation.step].code == team::Opcode::far;
    operation.awaited = is_far ? operation.mail.awaited() : -1;
    operation.near = is_done || is_far ? -1 : looking_.expected();
    operation.needs_carrier = is_far;
    if (!is_done) { // Messages of the operation may need looks to go on.
        static_cast<void>(operation.mail.are_sent());
    }
    return is_done;
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

// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_member.hpp"

#include "base/clock.hpp"
#include "cluster/attic.hpp"
#include "cluster/plan_exchange.hpp"
#include "team/blame.hpp"
#include "team/call.hpp"
#include "team/disagreement.hpp"
#include "team/member.hpp"

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace corymb::cluster {

namespace {

// Equal to the values of a team within a node (member.cpp).
constexpr std::int64_t watch_processes_ns = 1'000'000;
constexpr std::int64_t watch_threads_ns = 50'000'000;
/// A wait within the node lets the carrier go on first after so long.
constexpr std::int64_t visit_every_ns = 20'000;

/// Plans over several nodes do not change in the middle of a program whose sums depend on them.
detail::Call as_planned_here(detail::Call call) {
    call.key.stays = false;
    return call;
}

} // namespace

ClusterMember::ClusterMember(detail::Member& local, Carrier& carrier, const ClusterOptions& options)
    : station_(local, carrier, options), shared_(station_.shared.get()), user_(&local.user),
      ladder_(shared_->fabric.state(station_.own).spot, shared_->fabric.state(station_.own).gate,
              shared_->record.broken,
              {shared_->options.wait, shared_->oversubscribed, shared_->ranks_per_cpu(),
               deadline_within_node(station_.deadline_ns),
               shared_->crowd ? &*shared_->crowd : nullptr, static_cast<std::size_t>(station_.own),
               shared_->cpus_of_waiters, this,
               shared_->company ? watch_processes_ns : watch_threads_ns, &visitor_,
               shared_->options.interrupted_every.count() > 0
                   ? shared_->options.interrupted_every.count()
                   : visit_every_ns}),
      engine_(ladder_),
      operations_(shared_->fabric.state(station_.own).started.load(std::memory_order_relaxed)),
      mail_(carrier, station_.carried, 0), rehearsals_(options.rehearse && station_.nodes() > 1) {}

ClusterMember::~ClusterMember() = default;

ClusterPending& ClusterMember::pending() {
    if (!pending_) {
        pending_ = std::make_unique<ClusterPending>(station_, *user_);
    }
    return *pending_;
}

detail::Operation& ClusterMember::make(const detail::Call& call, bool is_persistent,
                                       std::shared_ptr<const void> keep) {
    const detail::Call own = as_planned_here(call);
    return is_persistent ? pending().make_persistent(own, std::move(keep))
                         : pending().make(own, std::move(keep));
}

void ClusterMember::set_deadline(std::int64_t deadline_ns) noexcept {
    station_.deadline_ns = deadline_ns;
    ladder_.set_deadline(deadline_within_node(deadline_ns));
    if (pending_) {
        pending_->set_deadline(deadline_ns);
    }
}

void ClusterMember::run(const detail::Call& given) {
    const detail::Call call = as_planned_here(given);
    if (rehearsals_.is_due(call, size())) [[unlikely]] {
        rehearse(call);
    }
    if (!rehearsals_.is_open(call.key)) {
        perform(call, nullptr);
        return;
    }
    const std::int64_t began_ns = now_ns();
    perform(call, nullptr);
    rehearsals_.note(call.key, now_ns() - began_ns);
}

void ClusterMember::perform(const detail::Call& call, Known* its) {
    begin(call.terms);
    if (!call.is_nothing) {
        Known& plan = its != nullptr ? *its : known(call.key);
        or_break([&] { execute(plan, call.operands); });
    }
    end();
}

/// A rank that fails in the middle breaks the team of its node.
template <class Action>
void ClusterMember::or_break(const Action& action) {
    try {
        action();
    } catch (...) {
        if (mail_.abandon_all()) {
            keep_for_good(std::exchange(scratch_, {}));
        }
        station_.break_team();
        throw;
    }
}

void ClusterMember::begin(const team::CallTerms& terms) {
    auto& state = shared_->fabric.state(station_.own);
    const bool has_work = pending_ != nullptr && pending_->has_work();
    ladder_.set_background(has_work ? &background_ : nullptr);
    ++operations_;
    digest_.add(terms);
    state.calls.write(operations_, terms);
    state.started.store(operations_, std::memory_order_relaxed);
    shared_->throw_if_broken();
}

void ClusterMember::end() noexcept {
    shared_->fabric.state(station_.own).finished.store(operations_, std::memory_order_relaxed);
}

// Plans
// --------------------------------------------------------------------------------------------

ClusterMember::Known& ClusterMember::known(const team::PlanKey& key) {
    auto& slot = plans_known_[key];
    if (!slot) {
        try {
            const std::string text = exchanged(
                key, [&](bool all_can_pull) { return station_.plan_texts(key, all_can_pull); });
            slot = std::make_unique<Known>(make_known(key, station_.part_of(key, text), 0));
        } catch (...) {
            plans_known_.erase(key);
            throw;
        }
    }
    return *slot;
}

std::vector<ChosenPlan> ClusterMember::chosen_plans() const {
    std::vector<ChosenPlan> chosen;
    for (const auto& [key, known] : plans_known_) {
        chosen.push_back({key.op, key.root, key.bytes, known->algorithm});
    }
    if (pending_ != nullptr) {
        pending_->add_chosen_plans(chosen);
    }
    return chosen;
}

ClusterMember::Known ClusterMember::make_known(const team::PlanKey& key, NodePart&& part,
                                               unsigned number) {
    constexpr unsigned free_bits = 60; // Bits that PlanKey::number leaves free.
    Known made{key.op, part.plan.algorithm, 0, {}, std::nullopt};
    made.program.far = far_steps(part, station_.home, rank());
    if (key.keeps_parts) {
        made.vector = vector_plan_of(part, station_.home, rank());
    }
    const Plan local = plan_of_node(std::move(part), station_.home);
    // All ranks refuse a plan alike. For want of memory one fails alone, which others wait for.
    or_break([&] {
        auto fabric = shared_->lane(cluster_lane);
        made.program.local =
            team::Compiler<team::Env>(fabric, station_.own, peers_)
                .compile_part(local, key.number() | std::uint64_t{number} << free_bits,
                              team::publication_readers(local));
    });
    return made;
}

std::string ClusterMember::exchanged(const team::PlanKey& key, PlanExchange::Answer answer) {
    std::string text;
    or_break([&] {
        auto exchange = std::make_unique<PlanExchange>(
            station_, mail_, key, Station::mark_of(digest_.signature()), std::move(answer));
        try {
            await([&] { return exchange->advance(); }, [&] { return exchange->awaited(); });
        } catch (...) {
            if (mail_.abandon_all()) { // While the memory of its messages is still there.
                keep_for_good(std::move(exchange));
            }
            throw;
        }
        text = exchange->text();
    });
    return text;
}

// Running
// --------------------------------------------------------------------------------------------

void ClusterMember::execute(Known& known, const team::Operands& given) {
    team::Operands operands = given;
    auto& program = known.program;
    set_block_bytes(operands, program.local);
    operands.signature = digest_.signature();
    ladder_.begin_operation(team::moved_bytes(known.op, operands, size()));
    if (known.vector) {
        VectorRun run(*known.vector, station_.home, rank(), given);
        if (run.tells()) {
            tell(*known.vector, run);
        }
        run.lay_out(operands, scratch_);
        run_steps(program, operands);
        run.hand_out();
        return;
    }
    if (const std::size_t need = scratch_bytes(operands, program.local); need > scratch_.size()) {
        scratch_.resize(need);
    }
    set_scratch(operands, program.local, scratch_.data());
    run_steps(program, operands);
}

void ClusterMember::run_steps(NodeProgram& program, const team::Operands& operands) {
    team::Activation<team::Env> activation{&program.local, &operands};
    const std::span<const FarStep> far = program.far;
    for (std::size_t i = 0; i < far.size();) {
        run_local(activation, far[i].after);
        if (!is_receive(far[i].kind)) {
            // A message must not carry data that an operator has not combined.
            shared_->throw_if_broken();
            mail_.send(far[i++], operands, Station::mark_of(operands.signature));
            continue;
        }
        const std::size_t count = group_size(far.subspan(i));
        receive_group(far.subspan(i, count), operands);
        i += count;
    }
    run_local(activation, program.local.steps.size());
    await([&] { return mail_.are_sent(); }, [&] { return mail_.last_receiver(); });
}

/// Ranks of the node tell each other the lengths of parts.
void ClusterMember::tell(const VectorPlan& plan, VectorRun& run) {
    if (!telling_) {
        const TellingPlan how = telling_plan(station_.home.members.size(), plan.pulls);
        auto fabric = shared_->lane(cluster_lane);
        telling_ = team::Compiler<team::Env>(fabric, station_.own, peers_)
                       .compile_part(how.plan, how.number, team::publication_readers(how.plan));
    }
    const team::Operands operands = run.told(digest_.signature());
    team::Activation<team::Env> activation{&*telling_, &operands};
    run_local(activation, telling_->steps.size());
}

void ClusterMember::run_local(team::Activation<team::Env>& activation, std::size_t until) {
    if (activation.step == until) {
        return;
    }
    if (shared_->oversubscribed) { // A receiver may wait for the rest of a message.
        ladder_.set_visits_urgent(!mail_.are_sent());
    }
    try {
        engine_.run(activation, until - activation.step);
    } catch (...) { // An operator of the user's.
        shared_->fail(detail::blame_operator(*shared_, station_.own));
        shared_->wait_for_copies();
        throw;
    }
    if (carrier_error_) { // Thrown also if the awaited message came just then.
        std::rethrow_exception(std::exchange(carrier_error_, nullptr));
    }
    if (activation.step != until) {
        station_.fail(local_failure());
    }
}

void ClusterMember::receive_group(std::span<const FarStep> group, const team::Operands& operands) {
    mail_.post(group, operands);
    for (const FarStep& step : group) {
        Carrier::Arrival arrival;
        await([&] { return mail_.test_next(arrival); }, [&] { return step.peer; });
        if (!Station::is_of_call(arrival, Mail::size_of(step, operands),
                                 Station::mark_of(operands.signature))) {
            const auto terms = shared_->fabric.state(station_.own).calls.read(operations_);
            station_.fail_foreign(step.peer, terms ? detail::describe(*terms) : "an operation");
        }
        mail_.take(step, operands);
    }
}

template <class Look, class Peer>
void ClusterMember::await(const Look& look, const Peer& peer) {
    NetworkPatience patience(shared_->oversubscribed);
    while (!look()) {
        if (pending_ != nullptr) {
            pending_->go_on();
        }
        if (patience.is_long()) {
            check_wait(patience, peer());
        }
    }
}

// Waiting
// --------------------------------------------------------------------------------------------

void ClusterMember::check_wait(NetworkPatience& patience, Rank peer) {
    if (shared_->is_broken()) {
        shared_->throw_failure();
    }
    const bool is_far = station_.home.is_far(peer);
    const std::int64_t deadline_ns =
        is_far ? station_.deadline_ns : deadline_within_node(station_.deadline_ns);
    if (patience.waited_ns() >= deadline_ns) {
        station_.fail(is_far ? station_.vain_wait(peer) : local_failure());
    }
    if (patience.must_watch() && is_lost()) {
        station_.fail(local_failure());
    }
}

/// Why a wait for the own node has ended.
team::Failure ClusterMember::local_failure() {
    if (pending_ != nullptr && !shared_->is_broken()) {
        if (auto hopeless = pending_->hopeless()) {
            return *hopeless;
        }
    }
    return station_.local_failure(0, operations_, engine_.met_other_call(), engine_.cannot_copy());
}

bool ClusterMember::visit() noexcept {
    try {
        static_cast<void>(mail_.are_sent());
    } catch (...) {
        carrier_error_ = std::current_exception();
        return true;
    }
    if (pending_ != nullptr) {
        pending_->go_on();
    }
    return shared_->options.interrupted_every.count() > 0 && station_.is_interrupted();
}

bool ClusterMember::is_lost() noexcept {
    try {
        return station_.is_interrupted() || !shared_->lost(operations_).empty() ||
               detail::disagreement(*shared_, 0, operations_).has_value() ||
               (pending_ != nullptr && pending_->hopeless().has_value());
    } catch (const std::exception&) {
        return false; // No memory to find out; the deadline is still there.
    }
}

} // namespace corymb::cluster

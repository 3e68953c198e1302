// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_member.hpp"

#include "team/blame.hpp"
#include "team/call.hpp"
#include "team/disagreement.hpp"
#include "team/member.hpp"

#include <corymb/detail/untyped.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace corymb::cluster {

namespace {

/// A lane of the node's team that nothing else uses.
constexpr team::LaneId cluster_lane = team::first_own_lane + team::own_lanes_max;

// As of a team within a node (member.cpp).
constexpr std::int64_t watch_processes_ns = 1'000'000;
constexpr std::int64_t watch_threads_ns = 50'000'000;
/// A wait within the node lets the carrier go on first after so long.
constexpr std::int64_t visit_every_ns = 20'000;
/// Who waits within the node waits a little longer than who waits for another node, and so hears
/// from that rank what is wrong.
constexpr std::int64_t later = 8;

/// Puts what came where a fold wants it.
void combine(const FarStep& step, const team::Operands& operands, std::byte* to,
             const std::byte* own, const std::vector<std::byte>& incoming) {
    const std::size_t count = incoming.size() / operands.element_bytes;
    const std::byte* left = step.incoming_first ? incoming.data() : own;
    const std::byte* right = step.incoming_first ? own : incoming.data();
    operands.combine(left, right, to, count, operands.context);
}

bool has_pull(const Plan& plan) {
    return std::ranges::any_of(plan.steps, [](const std::vector<Step>& steps) {
        return std::ranges::find(steps, Mechanism::pull, &Step::via) != steps.end();
    });
}

/// The children of a rank in a binomial tree over all are those at these distances above it.
unsigned first_reach(Rank rank) {
    unsigned reach = 1;
    while (reach <= static_cast<unsigned>(rank)) {
        reach *= 2;
    }
    return reach;
}

} // namespace

ClusterMember::ClusterMember(Team&& local, Carrier& carrier, const ClusterTeamOptions& options)
    : local_(std::move(local)), shared_(detail::Untyped::member(local_).shared), carrier_(&carrier),
      plans_(options.plans ? options.plans
                           : default_plans(options, [this] { return can_pull_.value_or(true); })),
      rank_(options.rank), home_(options.node_of_rank, options.rank), own_(local_.rank()),
      ladder_(shared_->fabric.state(own_).spot, shared_->fabric.state(own_).gate,
              shared_->record.broken,
              {shared_->options.wait, shared_->oversubscribed,
               shared_->deadline_ns + shared_->deadline_ns / later,
               shared_->crowd ? &*shared_->crowd : nullptr, static_cast<std::size_t>(own_), this,
               shared_->company ? watch_processes_ns : watch_threads_ns, &visitor_,
               shared_->options.interrupted_every.count() > 0
                   ? shared_->options.interrupted_every.count()
                   : visit_every_ns}),
      engine_(ladder_),
      operations_(shared_->fabric.state(own_).started.load(std::memory_order_relaxed)) {}

ClusterMember::~ClusterMember() = default;

int ClusterMember::mark_of(channel::Signature signature) noexcept {
    return signature & 0x7FFF;
}

void ClusterMember::run(const detail::Wish& wish) {
    detail::Call call = detail::equal_parts_call(rank_, size(), wish);
    if (wish.op == Collective::barrier) {
        call.key = {};
    }
    begin(call.terms);
    if (!call.is_nothing) {
        Known& its = known(call.key);
        or_break([&] { execute(its, call.operands); });
    }
    end();
}

/// A rank that fails in the middle breaks the team of its node.
template <class Action>
void ClusterMember::or_break(const Action& action) {
    try {
        action();
    } catch (...) {
        abandon_all();
        break_team();
        throw;
    }
}

/// While an exception is handled.
void ClusterMember::break_team() {
    if (shared_->is_broken()) {
        return;
    }
    try {
        throw;
    } catch (const Error& error) {
        shared_->fail({error.code(), error.what(), {rank_}});
    } catch (const std::exception& error) {
        shared_->fail({Errc::team_broken, name_of(rank_) + " failed: " + error.what(), {rank_}});
    } catch (...) {
        shared_->fail({Errc::team_broken, name_of(rank_) + " failed", {rank_}});
    }
    shared_->wait_for_copies();
}

void ClusterMember::begin(const team::CallTerms& terms) {
    auto& state = shared_->fabric.state(own_);
    ++operations_;
    digest_.add(terms);
    state.calls.write(operations_, terms);
    state.started.store(operations_, std::memory_order_relaxed);
    shared_->throw_if_broken();
}

void ClusterMember::end() noexcept {
    shared_->fabric.state(own_).finished.store(operations_, std::memory_order_relaxed);
}

// Plans
// --------------------------------------------------------------------------------------------

ClusterMember::Known& ClusterMember::known(const team::PlanKey& key) {
    auto& slot = plans_known_[key];
    if (!slot) {
        try {
            slot = std::make_unique<Known>(make_known(key));
        } catch (...) {
            plans_known_.erase(key);
            throw;
        }
    }
    return *slot;
}

ClusterMember::Known ClusterMember::make_known(const team::PlanKey& key) {
    Known made{common_plan(key), {}};
    const Plan local = plan_of_node(made.plan, home_);
    made.program.far = far_steps(made.plan, home_, rank_);
    auto fabric = shared_->lane(cluster_lane);
    made.program.local = team::Compiler<team::Env>(fabric, own_, peers_)
                             .compile(local, key.number(), team::publication_readers(local));
    return made;
}

/// What rank 0 plans, for all: as JSON, or, with '!' in front, why there is none.
std::string ClusterMember::make_text(const team::PlanKey& key) const {
    try {
        Plan plan = plans_({key.op, size(), key.root, key.bytes, key.ordered, false});
        if (plan.size() != size() || plan.op != key.op || plan.bytes_max < key.bytes) {
            throw Error(Errc::invalid_plan, "the plan source returned a plan for another "
                                            "operation, size or payload");
        }
        check_plan(plan, key.ordered);
        if (!*can_pull_ && has_pull(plan)) {
            throw Error(Errc::unsupported, plan.algorithm +
                                               " copies between processes, which process_vm_readv "
                                               "refuses on a node; plan without `pull`");
        }
        return to_json(plan);
    } catch (const std::exception& error) { // Whatever it is, the others wait for an answer.
        return std::string("!") + error.what();
    }
}

/// Up a binomial tree: what holds on the nodes of this rank and of all below it.
bool ClusterMember::common_pull() {
    const Carried before = carried_;
    const int mark = mark_of(digest_.signature());
    const auto number = static_cast<unsigned>(rank_);
    const unsigned reach = first_reach(rank_);
    unsigned highest = reach;
    while (number + highest < static_cast<unsigned>(size())) {
        highest *= 2;
    }
    unsigned char all = !shared_->company || shared_->company->pull ? 1 : 0;
    for (unsigned distance = highest / 2; distance >= reach; distance /= 2) { // Deep ones last.
        const auto child = static_cast<Rank>(number + distance);
        unsigned char its = 0;
        static_cast<void>(receive_one(&its, 1, child)); // The way down says whether all call it.
        all &= its;
    }
    if (rank_ != 0) {
        const auto parent = static_cast<Rank>(number - reach / 2);
        sent_.emplace_back(carrier_->send(&all, 1, parent, Carrier::Channel::data, mark), parent);
        await_sent(sent_);
    }
    carried_ = before;
    return all != 0;
}

/// Down a binomial tree over all ranks; first how long it is.
std::string ClusterMember::pass_on_text(std::string text) {
    const Carried before = carried_;
    const int mark = mark_of(digest_.signature());
    const auto number = static_cast<unsigned>(rank_);
    unsigned reach = first_reach(rank_);
    if (rank_ != 0) {
        const auto parent = static_cast<Rank>(number - reach / 2);
        std::uint64_t length = 0;
        check_mark(receive_one(&length, sizeof length, parent), sizeof length, parent);
        text.resize(length);
        check_mark(receive_one(text.data(), length, parent), length, parent);
    }
    const std::uint64_t length = text.size();
    for (; number + reach < static_cast<unsigned>(size()); reach *= 2) {
        const auto child = static_cast<Rank>(number + reach);
        for (const auto& [data, bytes] :
             {std::pair<const void*, std::size_t>{&length, 8},
              std::pair<const void*, std::size_t>{text.data(), length}}) {
            sent_.emplace_back(carrier_->send(data, bytes, child, Carrier::Channel::data, mark),
                               child);
        }
    }
    await_sent(sent_);
    carried_ = before;
    return text;
}

Plan ClusterMember::common_plan(const team::PlanKey& key) {
    if (!can_pull_) {
        or_break([&] { can_pull_ = common_pull(); });
    }
    std::string text = rank_ == 0 ? make_text(key) : std::string();
    or_break([&] { text = pass_on_text(std::move(text)); });
    if (text.starts_with('!')) {
        throw Error(Errc::unsupported,
                    std::string(to_string(key.op)) + " of " + std::to_string(size()) +
                        " ranks on several nodes has no plan: " + text.substr(1));
    }
    return plan_from_json(text);
}

// Running
// --------------------------------------------------------------------------------------------

void ClusterMember::execute(Known& known, const team::Operands& given) {
    team::Operands operands = given;
    auto& program = known.program;
    set_block_bytes(operands, program.local);
    if (const std::size_t need = scratch_bytes(operands, program.local); need > scratch_.size()) {
        scratch_.resize(need);
    }
    operands.scratch = scratch_.data();
    operands.signature = digest_.signature();
    ladder_.begin_operation(team::moved_bytes(known.plan.op, operands, size()));
    team::Activation<team::Env> activation{&program.local, &operands};
    const std::vector<FarStep>& far = program.far;
    for (std::size_t i = 0; i < far.size();) {
        run_local(activation, far[i].after);
        if (!is_receive(far[i].kind)) {
            send(far[i++], operands);
            continue;
        }
        std::size_t count = 1;
        while (i + count < far.size() && far[i + count].after == far[i].after &&
               is_receive(far[i + count].kind) && !far[i + count].begins_group) {
            ++count;
        }
        receive_group(far, i, count, operands);
        i += count;
    }
    run_local(activation, program.local.steps.size());
    await_sent(sent_);
}

void ClusterMember::run_local(team::Activation<team::Env>& activation, std::size_t until) {
    if (activation.step == until) {
        return;
    }
    try {
        engine_.run(activation, until - activation.step);
    } catch (...) { // An operator of the user's.
        shared_->fail(detail::blame_operator(*shared_, own_));
        shared_->wait_for_copies();
        throw;
    }
    if (activation.step != until) {
        fail(local_failure());
    }
}

ClusterMember::Bytes ClusterMember::bytes_of(const team::Operands& operands,
                                             const team::Places& places) const {
    const std::size_t bytes = operands.bytes;
    const std::size_t block = operands.block_bytes;
    const std::size_t begin =
        places.first_part * bytes + std::min(bytes, places.first_block * block);
    const std::size_t end = places.end_part * bytes + std::min(bytes, places.end_block * block);
    // Steps write what is not `input` only (check_plan).
    std::byte* const base = places.buffer == Buffer::input ? const_cast<std::byte*>(operands.input)
                            : places.buffer == Buffer::output ? operands.output
                                                              : operands.scratch;
    return {end > begin ? base + begin : nullptr, end - begin};
}

void ClusterMember::send(const FarStep& step, const team::Operands& operands) {
    const int mark = mark_of(operands.signature);
    ++carried_.messages_out;
    if (step.kind == StepKind::signal) {
        sent_.emplace_back(
            carrier_->send(nullptr, 0, step.peer, Carrier::Channel::notifications, mark),
            step.peer);
        return;
    }
    const Bytes from = bytes_of(operands, step.from);
    carried_.bytes_out += from.count;
    sent_.emplace_back(
        carrier_->send(from.data, from.count, step.peer, Carrier::Channel::data, mark), step.peer);
}

void ClusterMember::receive_group(const std::vector<FarStep>& far, std::size_t first,
                                  std::size_t count, const team::Operands& operands) {
    posted_.clear();
    posted_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const FarStep& step = far[first + i];
        const Bytes to = bytes_of(operands, step.to);
        auto channel = Carrier::Channel::data;
        std::byte* data = to.data;
        if (step.kind == StepKind::wait) {
            channel = Carrier::Channel::notifications;
        } else if (step.kind == StepKind::fold) {
            posted_[i].incoming.resize(to.count);
            data = posted_[i].incoming.data();
        }
        posted_[i].ticket = carrier_->receive(data, to.count, step.peer, channel);
    }
    for (std::size_t i = 0; i < count; ++i) {
        arrive(far[first + i], posted_[i], operands);
    }
    posted_.clear();
    ++carried_.rounds;
}

void ClusterMember::arrive(const FarStep& step, const Posted& posted,
                           const team::Operands& operands) {
    const Bytes to = bytes_of(operands, step.to);
    check_mark(await(posted.ticket, step.peer), to.count, step.peer);
    ++carried_.messages_in;
    carried_.bytes_in += to.count;
    if (step.kind == StepKind::fold) {
        combine(step, operands, to.data, bytes_of(operands, step.from).data, posted.incoming);
    }
}

} // namespace corymb::cluster

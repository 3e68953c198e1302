// SPDX-License-Identifier: Apache-2.0
#include <corymb/cluster_team.hpp>

#include "cluster/cluster_member.hpp"
#include "cluster/places.hpp"
#include "team/call.hpp"
#include "team/whole_scatter.hpp"

#include <corymb/detail/untyped.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace corymb {

namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw Error(Errc::invalid_argument, text);
}

void check_insides(const Insides& insides, const std::vector<int>& nodes, std::size_t node_count) {
    bool is_right = insides.of_node.empty() || insides.of_node.size() == node_count;
    for (std::size_t node = 0; is_right && node < insides.of_node.size(); ++node) {
        const int kind = insides.of_node[node];
        is_right = kind >= -1 && kind < static_cast<int>(insides.kinds.size()) &&
                   (kind == -1 || insides.kinds[static_cast<std::size_t>(kind)].machine.size() ==
                                      std::ranges::count(nodes, static_cast<int>(node)));
    }
    if (!is_right) {
        refuse("ClusterTeamOptions::insides must say of each node which kind it is, with a PU for "
               "each of its ranks, or of none");
    }
}

void check(const Team& local, const ClusterTeamOptions& options) {
    const std::vector<int>& nodes = options.node_of_rank;
    cluster::check_places(nodes, options.rank);
    const auto node_count = static_cast<std::size_t>(std::ranges::max(nodes)) + 1;
    const std::vector<int>& networks = options.networks.of_node;
    const auto classes = static_cast<int>(options.networks.classes.size());
    if (classes == 0 || (!networks.empty() && networks.size() != node_count) ||
        std::ranges::any_of(networks,
                            [=](int number) { return number < 0 || number >= classes; })) {
        refuse("ClusterTeamOptions::networks must have a class, and say of each node which it is "
               "of, or of none");
    }
    check_insides(options.insides, nodes, node_count);
    const auto own = nodes.begin() + options.rank;
    if (local.size() != std::ranges::count(nodes, *own) ||
        local.rank() != std::count(nodes.begin(), own, *own)) {
        refuse("the local team must be that of the ranks on node " + std::to_string(*own) +
               ", in increasing order");
    }
}

} // namespace

Carrier::~Carrier() = default;

int Carrier::lanes() const noexcept {
    return 0;
}

int Carrier::own_lanes() const noexcept {
    return 0;
}

struct ClusterTeam::State {
    cluster::ClusterMember member;
};

namespace {

template <class State>
cluster::ClusterMember& own(const std::unique_ptr<State>& state) {
    if (state == nullptr) {
        refuse_empty("team over several nodes", "it was moved from");
    }
    return state->member;
}

/// Called before the objects of a handle go: a parent process's are left alone, with its requests.
template <class State>
void let_go(std::unique_ptr<State>& state) noexcept {
    if (state == nullptr) {
        return;
    }
    if (state->member.user.is_inherited()) {
        static_cast<void>(state.release());
    } else {
        static_cast<void>(state->member.user.enter_when_free());
    }
}

} // namespace

ClusterTeam::ClusterTeam(Team&& local, Carrier& carrier, const ClusterTeamOptions& options) {
    check(local, options);
    state_.reset(new State{{std::move(local), carrier, options}});
}

ClusterTeam::ClusterTeam(ClusterTeam&& other) noexcept = default;
ClusterTeam& ClusterTeam::operator=(ClusterTeam&& other) noexcept {
    if (this != &other) {
        let_go(state_);
        state_ = std::move(other.state_);
    }
    return *this;
}
ClusterTeam::~ClusterTeam() {
    let_go(state_);
}

Rank ClusterTeam::rank() const noexcept {
    return state_ == nullptr ? -1 : state_->member.rank();
}
int ClusterTeam::size() const noexcept {
    return state_ == nullptr ? 0 : state_->member.size();
}
const Carried& ClusterTeam::carried() const noexcept {
    static constexpr Carried nothing;
    return state_ == nullptr ? nothing : state_->member.carried();
}

void ClusterTeam::barrier() {
    run({});
}

Request ClusterTeam::ibarrier() {
    return start({});
}

Request ClusterTeam::barrier_init() {
    return prepare({});
}

void ClusterTeam::run(const detail::Wish& wish) {
    const detail::InCall member(own(state_));
    if (detail::WholeScatter::is_needed_for(wish)) [[unlikely]] {
        detail::run_whole(rank(), size(), wish, [this](const detail::Wish& whole) { run(whole); });
        return;
    }
    member->run(wish);
}

Request ClusterTeam::start(const detail::Wish& wish, std::shared_ptr<const void> keep) {
    const detail::InCall member(own(state_));
    if (detail::WholeScatter::is_needed_for(wish)) [[unlikely]] {
        const auto whole = std::make_shared<detail::WholeScatter>(rank(), size(), wish);
        whole->before();
        return detail::Untyped::keeping(start(whole->wish(), std::move(keep)), whole);
    }
    cluster::ClusterPending& pending = member->pending();
    cluster::FarOperation& operation =
        pending.make(cluster::call_of(rank(), size(), wish), std::move(keep));
    try {
        pending.start(operation);
    } catch (...) {
        pending.forget(operation);
        throw;
    }
    return Request(&operation);
}

Request ClusterTeam::prepare(const detail::Wish& wish, std::shared_ptr<const void> keep) {
    const detail::InCall member(own(state_));
    if (detail::WholeScatter::is_needed_for(wish)) [[unlikely]] {
        const auto whole = std::make_shared<detail::WholeScatter>(rank(), size(), wish);
        return detail::Untyped::keeping(prepare(whole->wish(), std::move(keep)), whole);
    }
    return Request(&member->pending().make_persistent(cluster::call_of(rank(), size(), wish),
                                                      std::move(keep)));
}

std::size_t ClusterTeam::progress() {
    return detail::InCall(own(state_))->pending().progress();
}

void ClusterTeam::complete_all() {
    detail::InCall(own(state_))->pending().complete_all();
}

ChosenPlan ClusterTeam::plan(Collective op, std::uint64_t bytes, Rank root) {
    const detail::InCall member(own(state_));
    detail::check_rank(root, size(), "root");
    const bool barrier = op == Collective::barrier;
    return member->plan({op, is_rooted(op) ? root : 0, barrier ? 0 : team::size_class(bytes)});
}

std::vector<ChosenPlan> ClusterTeam::chosen_plans() const {
    return detail::InCall(own(state_))->chosen_plans();
}

void ClusterTeam::abandon(const std::string& why) {
    const detail::InCall member(own(state_));
    try {
        member->fail(
            {Errc::team_broken, "rank " + std::to_string(rank()) + " gave up: " + why, {rank()}});
    } catch (const Error&) { // All other ranks are told.
    }
}

void ClusterTeam::check_equal(std::size_t wanted, std::size_t has) {
    if (wanted != has) {
        refuse("the output has " + std::to_string(has) + " elements; it must have " +
               std::to_string(wanted));
    }
}

} // namespace corymb

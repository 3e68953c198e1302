// SPDX-License-Identifier: Apache-2.0
#include "cluster/station.hpp"

#include "cluster/default_plans.hpp"
#include "cluster/vector_plan.hpp"
#include "plan/plan_bytes.hpp"
#include "team/blame.hpp"
#include "team/disagreement.hpp"
#include "team/member.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace corymb::cluster {

namespace {

/// A plan source is asked for so many at most.
constexpr int alternatives_most = 15;

bool uses(const Plan& plan, Mechanism via) {
    return std::ranges::any_of(plan.steps, [via](const std::vector<Step>& steps) {
        return std::ranges::find(steps, via, &Step::via) != steps.end();
    });
}

} // namespace

Station::Station(detail::Member& local, Carrier& of_messages, const ClusterOptions& options)
    : shared(local.shared), carrier(&of_messages),
      plans(options.plans ? options.plans
                          : default_plans(options, [this] { return plans_for_pull; })),
      are_plans_proven(!options.plans), rank(options.rank),
      home(options.node_of_rank, options.rank), tree(options.node_of_rank, options.rank),
      own(local.rank), deadline_ns(shared->deadline_ns) {}

int Station::nodes() const noexcept {
    return 1 + *std::ranges::max_element(home.node_of_rank);
}

std::string Station::name_of(Rank which) const {
    return "rank " + std::to_string(which) + " (node " +
           std::to_string(home.node_of_rank[static_cast<std::size_t>(which)]) + ")";
}

Plan Station::checked_plan(const team::PlanKey& key, bool all_can_pull, int alternative) {
    plans_for_pull = all_can_pull;
    Plan plan = plans({.op = key.op,
                       .size = size(),
                       .root = key.root,
                       .bytes = key.bytes,
                       .ordered = key.ordered,
                       .keeps_parts = key.keeps_parts,
                       .alternative = alternative,
                       .one_block = key.one_block});
    if (alternative != 0 && plan.size() == 0) {
        return plan;
    }
    const bool is_at_root = !is_rooted(key.op) || plan.root == key.root;
    if (plan.size() != size() || plan.op != key.op || plan.bytes_max < key.bytes || !is_at_root) {
        throw Error(Errc::invalid_plan, "the plan source returned a plan for another operation, "
                                        "root, size or payload");
    }
    if (!are_plans_proven) {
        check_plan(plan, key.ordered);
        if (key.keeps_parts) {
            check_vector_plan(plan, home.node_of_rank);
        }
    }
    team::check_one_block(key, plan);
    check_far_steps(plan, home.node_of_rank);
    if (!all_can_pull && uses(plan, Mechanism::pull)) {
        throw Error(Errc::unsupported, plan.algorithm +
                                           " copies between processes, which process_vm_readv "
                                           "refuses on a node; plan without `pull`");
    }
    if (uses(plan, Mechanism::push)) {
        throw Error(Errc::unsupported, plan.algorithm +
                                           " writes into other ranks' buffers, which teams of "
                                           "several nodes do not; plan without `push`");
    }
    return plan;
}

Texts Station::plan_texts(const team::PlanKey& key, bool all_can_pull) {
    try {
        const auto known = settled_.find(key);
        const Plan plan = known != settled_.end() ? plan_of_rival(key, known->second)
                                                  : checked_plan(key, all_can_pull, 0);
        return parts_as_bytes(plan, home.node_of_rank, key.keeps_parts);
    } catch (const std::exception& error) { // Whatever it is, the others wait for an answer.
        return {std::string("!") + error.what()};
    } catch (...) {
        return {"!the plan source has failed"};
    }
}

bool Station::has_alternatives(const team::PlanKey& key, bool all_can_pull) {
    const auto [place, is_new] = rivals_.try_emplace(key);
    if (is_new) {
        try {
            find_rivals(key, all_can_pull, place->second);
        } catch (const std::exception&) { // Plans that were found before are enough.
        }
    }
    return place->second.size() > 1;
}

/// Finds the present plan and plans that may be better. A plan that is refused ends the list.
void Station::find_rivals(const team::PlanKey& key, bool all_can_pull, std::vector<Rival>& found) {
    const auto add = [&](const Plan& plan) {
        std::string hash = plan_hash(plan);
        const bool is_new = std::ranges::find(found, hash, &Rival::hash) == found.end();
        if (is_new) {
            found.push_back({.number = static_cast<int>(found.size()),
                             .hash = std::move(hash),
                             .bytes = plan::to_bytes(plan)});
        }
        return is_new;
    };
    add(checked_plan(key, all_can_pull, 0));
    std::string last; // Algorithm.
    for (int number = 1; number <= alternatives_most; ++number) {
        const Plan plan = checked_plan(key, all_can_pull, number);
        // A source that does not know of alternatives gives one name again and again. Two schemes
        // may come to one plan.
        if (plan.size() == 0 || (!add(plan) && plan.algorithm == last)) {
            break;
        }
        last = plan.algorithm;
    }
}

Plan Station::plan_of_rival(const team::PlanKey& key, int number) const {
    return plan::plan_from_bytes(std::ranges::find(rivals_.at(key), number, &Rival::number)->bytes);
}

void Station::note(const team::PlanKey& key, int number, double slowdown) {
    std::ranges::find(rivals_.at(key), number, &Rival::number)->slowdown = slowdown;
}

std::vector<int> Station::next_alternatives(const team::PlanKey& key, std::size_t most, bool best) {
    std::vector<Rival>& all = rivals_.at(key);
    if (best) {
        std::ranges::stable_sort(all, {}, &Rival::slowdown);
    }
    const auto settled = settled_.find(key);
    const auto present =
        std::ranges::find(all, settled == settled_.end() ? 0 : settled->second, &Rival::number);
    std::rotate(present, present + 1, all.end());
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size() - 1));
    std::vector<int> given;
    std::ranges::transform(all.begin(), end, std::back_inserter(given), &Rival::number);
    std::rotate(all.begin(), end, all.end());
    return given;
}

/// Each as its number and its length before it.
Texts Station::alternatives_texts(const team::PlanKey& key, std::span<const int> numbers,
                                  const std::string& head) const {
    Texts texts(static_cast<std::size_t>(nodes()), head);
    for (const int number : numbers) {
        const std::vector<std::string> parts =
            parts_as_bytes(plan_of_rival(key, number), home.node_of_rank, key.keeps_parts);
        for (std::size_t node = 0; node < texts.size(); ++node) {
            plan::put_number(texts[node], static_cast<std::uint64_t>(number));
            plan::put_number(texts[node], parts[node].size());
            texts[node] += parts[node];
        }
    }
    return texts;
}

std::vector<Station::Alternative> Station::alternatives_of(std::string_view text) const {
    std::vector<Alternative> alternatives;
    while (!text.empty()) {
        const auto number = static_cast<int>(plan::take_number(text, alternatives_most));
        const std::uint64_t length = plan::take_number(text, text.size());
        alternatives.push_back(
            {number, part_from_bytes(plan::take_bytes(text, length), home.members.size())});
    }
    return alternatives;
}

NodePart Station::part_of(const team::PlanKey& key, std::string_view text) const {
    if (text.starts_with('!')) {
        throw Error(Errc::unsupported,
                    std::string(to_string(key.op)) + " of " + std::to_string(size()) +
                        " ranks on several nodes has no plan: " + std::string(text.substr(1)));
    }
    return part_from_bytes(text, home.members.size());
}

std::optional<team::LaneId> Station::take_own_lane(std::uint64_t number) {
    constexpr std::uint64_t apart = std::uint64_t{1} << 63U;
    const auto taken = shared->take_own_lane(apart + number);
    return taken ? std::optional(*taken - team::first_own_lane + first_persistent_lane)
                 : std::nullopt;
}

void Station::give_back_own_lane(team::LaneId id) noexcept {
    shared->give_back_own_lane(id - first_persistent_lane + team::first_own_lane);
}

team::Failure Station::foreign_message(Rank peer, const std::string& call) const {
    return {Errc::mismatch,
            name_of(rank) + ", in " + call + ", and " + name_of(peer) +
                ", which is on another node, call different operations, here or before, or with "
                "different sizes, roots or types; all ranks must call the same",
            {rank, peer}};
}

std::vector<int> Station::missing(team::LaneId lane, std::uint64_t number) {
    if (lane == 0) {
        return shared->missing(number);
    }
    std::vector<int> ranks;
    auto edges = shared->lane(lane);
    for (Rank other = 0; other < shared->fabric.size(); ++other) {
        if (edges.lane_state(other).started.load(std::memory_order_relaxed) < number) {
            ranks.push_back(other);
        }
    }
    return ranks;
}

std::vector<int> Station::lost(team::LaneId lane, std::uint64_t number) {
    if (lane == 0) {
        return shared->lost(number);
    }
    std::vector<int> ranks;
    if (!shared->company) {
        return ranks;
    }
    auto edges = shared->lane(lane);
    shared->company->watch.look();
    for (Rank other = 0; other < shared->fabric.size(); ++other) {
        if (edges.lane_state(other).finished.load(std::memory_order_relaxed) < number &&
            shared->is_elsewhere(other) &&
            shared->company->watch.has_ended(shared->fabric.state(other).pid)) {
            ranks.push_back(other);
        }
    }
    return ranks;
}

team::Failure Station::local_failure(team::LaneId lane, std::uint64_t number, bool met_other_call,
                                     bool cannot_copy) {
    if (shared->is_broken()) {
        shared->throw_failure();
    }
    if (auto differ = detail::disagreement(*shared, lane, number)) {
        return as_seen_by_all(std::move(*differ));
    }
    if (met_other_call) {
        return as_seen_by_all(detail::foreign_message(*shared, own));
    }
    team::Failure failure;
    const auto now_lost = [&] {
        return lost(lane, number);
    };
    failure.ranks = cannot_copy ? detail::lost_soon(now_lost) : now_lost();
    if (!failure.ranks.empty()) {
        failure.text = "ended without finishing an operation:";
    } else if (cannot_copy) {
        failure.text = "the memory of a rank's process on this node cannot be copied";
    } else {
        failure.code = Errc::timeout;
        failure.ranks = missing(lane, number);
        failure.text = failure.ranks.empty()
                           ? "all have come, but one still waits, perhaps for another node"
                           : "did not arrive within the deadline:";
    }
    for (const Rank other : failure.ranks) {
        failure.text += " " + shared->name_of(other);
    }
    return as_seen_by_all(std::move(failure));
}

team::Failure Station::vain_wait(Rank peer) const {
    return {Errc::timeout,
            name_of(rank) + " waited in vain for " + name_of(peer) + " on another node",
            {peer}};
}

team::Failure Station::as_seen_by_all(team::Failure failure) const {
    failure.text =
        "among the ranks of " + name_of(rank) + ", which count from 0 here: " + failure.text;
    for (int& other : failure.ranks) {
        other = home.members[static_cast<std::size_t>(other)];
    }
    return failure;
}

bool Station::interrupt(const char* why) noexcept {
    try {
        shared->fail({Errc::interrupted, name_of(rank) + why, {rank}});
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

bool Station::is_interrupted() noexcept {
    try {
        return shared->options.interrupted && shared->options.interrupted() &&
               interrupt(" was interrupted");
    } catch (const std::exception&) {
        return false;
    }
}

void Station::abandon(const std::string& why) noexcept {
    try {
        fail({Errc::team_broken, name_of(rank) + " gave up: " + why, {rank}});
    } catch (const std::exception&) { // All other ranks are told.
    }
}

void Station::fail(const team::Failure& failure) {
    if (!shared->is_broken()) {
        shared->fail(failure);
    }
    shared->wait_for_copies(); // The caller may free its buffers now.
    shared->throw_failure();
}

void Station::break_team() {
    if (shared->is_broken()) {
        shared->wait_for_copies();
        return;
    }
    try {
        throw;
    } catch (const Error& error) {
        shared->fail({error.code(), error.what(), {rank}});
    } catch (const std::exception& error) {
        shared->fail({Errc::team_broken, name_of(rank) + " failed: " + error.what(), {rank}});
    } catch (...) {
        shared->fail({Errc::team_broken, name_of(rank) + " failed", {rank}});
    }
    shared->wait_for_copies();
}

} // namespace corymb::cluster

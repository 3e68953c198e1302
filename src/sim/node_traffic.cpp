// SPDX-License-Identifier: Apache-2.0
#include "plan/execution.hpp"
#include "plan/matching.hpp"
#include "plan/places.hpp"
#include "plan/shape.hpp"
#include "plan/step_kind.hpp"

#include <corymb/error.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>

namespace corymb {

namespace {

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

/// A visitor of plan::Execution that counts the bytes between nodes.
class Counter {
public:
    Counter(const plan::Matching& matching, std::span<const int> node, std::uint64_t bytes)
        : matching_(matching), node_(node), bytes_(bytes), depth_(node.size(), 0),
          carried_(matching.step_count(), 0) {
        const auto nodes = static_cast<std::size_t>(*std::ranges::max_element(node) + 1);
        traffic_.in.resize(nodes);
        traffic_.out.resize(nodes);
        traffic_.rank_in.resize(node.size());
    }

    void perform(plan::StepNumber number) {
        const Step& step = matching_.step(number);
        const Rank rank = matching_.rank_of(number);
        const bool far = plan::has_peer(step.kind) && node_[at(rank)] != node_[at(step.peer)];
        if (plan::has_source(step.kind)) {
            std::uint32_t& depth = depth_[at(rank)];
            depth = std::max(depth, carried_[matching_.partner(number)]);
            traffic_.rounds = std::max(traffic_.rounds, depth);
        } else {
            carried_[number] = depth_[at(rank)] + (far ? 1 : 0);
        }
        if (far && plan::is_sending(step.kind)) {
            const auto bytes = plan::bytes_of(matching_.plan(), step.from, bytes_);
            traffic_.out[at(node_[at(rank)])] += bytes;
            traffic_.in[at(node_[at(step.peer)])] += bytes;
            traffic_.rank_in[at(step.peer)] += bytes;
            ++traffic_.messages;
        }
    }
    void complete(plan::StepNumber) noexcept {}

    [[nodiscard]] NodeTraffic traffic() && { return std::move(traffic_); }

private:
    const plan::Matching& matching_;
    std::span<const int> node_;
    std::uint64_t bytes_;
    // by rank: the longest chain of network messages that its data depends on
    std::vector<std::uint32_t> depth_;
    std::vector<std::uint32_t> carried_; // by sending step
    NodeTraffic traffic_;
};

} // namespace

NodeTraffic node_traffic(const Plan& plan, std::span<const int> node_of_rank, std::uint64_t bytes) {
    if (node_of_rank.size() != plan.steps.size() || node_of_rank.empty() ||
        *std::ranges::min_element(node_of_rank) < 0 ||
        *std::ranges::max_element(node_of_rank) >= plan.size()) {
        throw Error(Errc::invalid_argument,
                    "every rank of the plan needs a node, from 0 to at most the number of ranks");
    }
    plan::check_shape(plan);
    const plan::Matching matching(plan);
    Counter counter(matching, node_of_rank, bytes);
    plan::Execution(matching, counter).run();
    return std::move(counter).traffic();
}

} // namespace corymb

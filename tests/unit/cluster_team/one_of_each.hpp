// SPDX-License-Identifier: Apache-2.0
// One of each operation of a team over several nodes under way, and whether their results are
// right.
#pragma once

#include <corymb/carrier.hpp>
#include <corymb/request.hpp>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace cluster_test {

using corymb::Rank;
using corymb::Request;
using corymb::Team;

/// Whole numbers, so that sums are exact in any order.
inline double value(Rank rank, std::size_t place, int round) {
    return static_cast<double>(
        (static_cast<std::size_t>(rank) * 13 + place * 5 + static_cast<std::size_t>(round) * 17) %
        997);
}

/// One of each operation, with buffers of its own.
class OneOfEach {
public:
    enum class Form { nonblocking, persistent };
    /// Starts them, or, if persistent, only makes their requests.
    OneOfEach(Team& team, std::size_t count, int round, Form form = Form::nonblocking)
        : team_(&team), count_(count), root_(round % team.size()) {
        outputs_.resize(10);
        for (auto& output : outputs_) {
            output.resize(count * static_cast<std::size_t>(team.size()));
        }
        input_.resize(outputs_[0].size());
        fill(round);
        form == Form::nonblocking ? start() : prepare();
    }

    /// New values, between two starts of persistent ones.
    void fill(int round) {
        round_ = round;
        for (std::size_t i = 0; i < input_.size(); ++i) {
            input_[i] = value(team_->rank(), i, round);
        }
        for (auto& output : outputs_) {
            std::ranges::fill(output, -1);
        }
        outputs_[0] = input_;
    }

    /// What is in the buffers after all are complete; the name of the first operation that is not
    /// right, or nothing.
    [[nodiscard]] std::string wrong() const {
        const Rank own = team_->rank();
        const Rank size = team_->size();
        const auto place = static_cast<std::size_t>(own) * count_;
        const auto part = [&](Rank rank, std::size_t first) {
            std::vector<double> values;
            for (std::size_t i = 0; i < count_; ++i) {
                values.push_back(value(rank, first + i, round_));
            }
            return values;
        };
        const auto sum = [&](Rank end, std::size_t first) {
            std::vector<double> values(count_);
            for (Rank rank = 0; rank < end; ++rank) {
                std::ranges::transform(values, part(rank, first), values.begin(), std::plus<>());
            }
            return values;
        };
        const auto parts = [&](const std::function<std::vector<double>(Rank)>& of) {
            std::vector<double> values;
            for (Rank rank = 0; rank < size; ++rank) {
                const auto its = of(rank);
                values.insert(values.end(), its.begin(), its.end());
            }
            return values;
        };
        const auto begins = [&](std::size_t output, const std::vector<double>& wanted) {
            return std::ranges::equal(std::span(outputs_[output]).first(wanted.size()), wanted);
        };
        const auto from_all = parts([&](Rank rank) { return part(rank, 0); });
        if (!begins(0, parts([&](Rank rank) {
                        return part(root_, static_cast<std::size_t>(rank) * count_);
                    }))) {
            return "broadcast";
        }
        if (own == root_ && (!begins(1, sum(size, 0)) || !begins(3, from_all))) {
            return "reduce or gather";
        }
        return !begins(2, sum(size, 0))                                          ? "allreduce"
               : !begins(4, part(root_, place))                                  ? "scatter"
               : !begins(5, from_all)                                            ? "allgather"
               : !begins(6, parts([&](Rank rank) { return part(rank, place); })) ? "alltoall"
               : !begins(7, sum(size, place))                                    ? "reduce_scatter"
               : !begins(8, sum(own + 1, 0))                                     ? "scan"
               : own > 0 && !begins(9, sum(own, 0))                              ? "exscan"
                                                                                 : "";
    }

    std::vector<Request> requests;

private:
    void start() {
        const std::span<const double> all(input_);
        const auto one = all.first(count_);
        auto& out = outputs_;
        requests.push_back(team_->ibarrier());
        requests.push_back(team_->ibroadcast(std::span(out[0]), root_));
        requests.push_back(team_->ireduce(one, std::span(out[1]).first(count_), {}, root_));
        requests.push_back(team_->iallreduce(one, std::span(out[2]).first(count_)));
        requests.push_back(team_->igather(one, std::span(out[3]), root_));
        requests.push_back(team_->iscatter(all, std::span(out[4]).first(count_), root_));
        requests.push_back(team_->iallgather(one, std::span(out[5])));
        requests.push_back(team_->ialltoall(all, std::span(out[6])));
        requests.push_back(team_->ireduce_scatter(all, std::span(out[7]).first(count_)));
        requests.push_back(team_->iscan(one, std::span(out[8]).first(count_)));
        requests.push_back(team_->iexscan(one, std::span(out[9]).first(count_)));
    }
    void prepare() {
        const std::span<const double> all(input_);
        const auto one = all.first(count_);
        auto& out = outputs_;
        requests.push_back(team_->barrier_init());
        requests.push_back(team_->broadcast_init(std::span(out[0]), root_));
        requests.push_back(team_->reduce_init(one, std::span(out[1]).first(count_), {}, root_));
        requests.push_back(team_->allreduce_init(one, std::span(out[2]).first(count_)));
        requests.push_back(team_->gather_init(one, std::span(out[3]), root_));
        requests.push_back(team_->scatter_init(all, std::span(out[4]).first(count_), root_));
        requests.push_back(team_->allgather_init(one, std::span(out[5])));
        requests.push_back(team_->alltoall_init(all, std::span(out[6])));
        requests.push_back(team_->reduce_scatter_init(all, std::span(out[7]).first(count_)));
        requests.push_back(team_->scan_init(one, std::span(out[8]).first(count_)));
        requests.push_back(team_->exscan_init(one, std::span(out[9]).first(count_)));
    }

    Team* team_;
    std::size_t count_;
    int round_ = 0;
    Rank root_;
    std::vector<double> input_;
    std::vector<std::vector<double>> outputs_;
};

} // namespace cluster_test

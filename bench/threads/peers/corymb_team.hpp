// SPDX-License-Identifier: Apache-2.0
// corymb itself in the shape of the peers.
#pragma once

#include <corymb/team.hpp>

#include <chrono>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace corymb::bench {

class CorymbTeam {
public:
    /// `cpus` is where the ranks are bound, empty when they are not.
    CorymbTeam(int size, WaitPolicy wait, std::vector<int> cpus)
        : team_(size, options(wait, std::move(cpus))) {}

    class Member {
    public:
        void arrive_and_wait() { team_.barrier(); }
        void broadcast(std::span<double> data, int root) { team_.broadcast(data, root); }
        void reduce(std::span<const double> input, std::span<double> output, int root) {
            team_.reduce(input, output, std::plus<>(), root);
        }
        void allreduce(std::span<const double> input, std::span<double> output) {
            team_.allreduce(input, output);
        }

    private:
        friend class CorymbTeam;
        explicit Member(Team team) : team_(std::move(team)) {}
        Team team_;
    };
    Member join(int rank) { return Member(team_.join(rank)); }

private:
    static TeamOptions options(WaitPolicy wait, std::vector<int> cpus) {
        TeamOptions options;
        options.deadline = std::chrono::seconds(20);
        options.wait = wait;
        options.cpus = std::move(cpus);
        return options;
    }

    ThreadTeam team_;
};

} // namespace corymb::bench

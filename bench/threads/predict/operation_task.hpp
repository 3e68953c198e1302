// SPDX-License-Identifier: Apache-2.0
// Any collective operation as a task of a rank: it writes its input anew, runs the operation and
// reads its result whole.
#pragma once

#include "../worker/tasks.hpp"

#include <corymb/operation.hpp>
#include <corymb/operators.hpp>
#include <corymb/plan.hpp>
#include <corymb/team.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace corymb::bench {

/// How many parts a rank gives and gets. A broadcast has one buffer, which counts as the root's
/// input and as everybody's output.
struct PartsOf {
    std::size_t input = 0, output = 0;
};

[[nodiscard]] constexpr PartsOf parts_of(Collective op, int ranks, int rank, int root) noexcept {
    const auto all = static_cast<std::size_t>(ranks);
    const std::size_t at_root = rank == root ? 1 : 0;
    switch (op) {
    case Collective::barrier: return {};
    case Collective::broadcast: return {at_root, 1};
    case Collective::reduce: return {1, at_root};
    case Collective::gather: return {1, at_root * all};
    case Collective::scatter: return {at_root * all, 1};
    case Collective::allgather: return {1, all};
    case Collective::alltoall: return {all, all};
    case Collective::reduce_scatter: return {all, 1};
    case Collective::exscan: return {1, rank == 0 ? 0U : 1U};
    case Collective::allreduce:
    case Collective::scan: return {1, 1};
    }
    return {};
}

/// What is measured: an operation with so many bytes in a part.
struct Measured {
    Collective op = Collective::barrier;
    int ranks = 2;
    std::size_t bytes = 0; ///< 0 for a barrier, else a multiple of sizeof(double).

    [[nodiscard]] std::size_t count() const noexcept { return bytes / sizeof(double); }
    /// Most parts that a rank writes, and reads, in one operation.
    [[nodiscard]] PartsOf most_parts() const noexcept {
        PartsOf most;
        for (int rank = 0; rank < ranks; ++rank) {
            for (int root = 0; root < (is_rooted(op) ? ranks : 1); ++root) {
                const PartsOf parts = parts_of(op, ranks, rank, root);
                most.input = std::max(most.input, parts.input);
                most.output = std::max(most.output, parts.output);
            }
        }
        return most;
    }
};

class OperationTask {
public:
    /// The team and what its ranks do.
    class Group {
    public:
        Group(const Case& /*what*/, const Measured& measured, const std::vector<int>& cpus,
              PlanSource plans)
            : measured_(measured), team_(measured.ranks, options(cpus, std::move(plans))) {}
        OperationTask enter(int rank) { return {measured_, team_.join(rank)}; }

    private:
        static TeamOptions options(const std::vector<int>& cpus, PlanSource plans) {
            TeamOptions options;
            options.deadline = std::chrono::seconds(20);
            options.cpus = cpus;
            options.plans = std::move(plans);
            return options;
        }

        Measured measured_;
        ThreadTeam team_;
    };

    /// Whether the result is right.
    bool step() {
        const std::uint64_t call = call_++;
        const int root = is_rooted(measured_.op) ? static_cast<int>(call % ranks()) : 0;
        const PartsOf parts = parts_of(measured_.op, measured_.ranks, rank_, root);
        const Payload& written = measured_.op == Collective::broadcast ? output_ : input_;
        for (std::size_t i = 0; i < parts.input; ++i) {
            fill(part(written, i), contribution(call, rank_, i));
        }
        run(root, parts);
        for (std::size_t i = 0; i < parts.output; ++i) {
            if (!are_all(part(output_, i), wanted(call, root, i))) {
                return false;
            }
        }
        return true;
    }
    bool verify() { return step(); }

private:
    OperationTask(const Measured& measured, Team team)
        : measured_(measured), team_(std::move(team)), rank_(team_.rank()),
          input_(measured.most_parts().input * measured.count()),
          output_(measured.most_parts().output * measured.count()) {}

    void run(int root, const PartsOf& parts) {
        CollectiveOperation operation;
        operation.op = measured_.op;
        operation.root = root;
        if (measured_.op != Collective::barrier) {
            operation.input = measured_.op == Collective::broadcast || parts.input == 0
                                  ? nullptr
                                  : input_.span().data();
            operation.output = parts.output == 0 ? nullptr : output_.span().data();
            operation.count = measured_.count();
            operation.reduction = is_reduction(measured_.op) ? reduction_of<double, std::plus<>>()
                                                             : move_of<double>();
        }
        team_.run(operation);
    }

    [[nodiscard]] std::size_t ranks() const noexcept {
        return static_cast<std::size_t>(measured_.ranks);
    }
    [[nodiscard]] std::span<double> part(const Payload& of, std::size_t index) const noexcept {
        return of.span().subspan(index * measured_.count(), measured_.count());
    }
    /// All elements of a part are alike, and parts differ, so that one that went astray shows. Sums
    /// are exact.
    [[nodiscard]] static double contribution(std::uint64_t call, int from, std::size_t part) {
        return value_of(call) + 64 * from + static_cast<double>(part);
    }
    [[nodiscard]] double sum(std::uint64_t call, int from_end, std::size_t part) const {
        double result = 0;
        for (int from = 0; from < from_end; ++from) {
            result += contribution(call, from, part);
        }
        return result;
    }
    [[nodiscard]] double wanted(std::uint64_t call, int root, std::size_t index) const {
        const auto own = static_cast<std::size_t>(rank_);
        switch (measured_.op) {
        case Collective::barrier: return 0;
        case Collective::broadcast: return contribution(call, root, 0);
        case Collective::reduce:
        case Collective::allreduce: return sum(call, measured_.ranks, 0);
        case Collective::gather:
        case Collective::allgather: return contribution(call, static_cast<int>(index), 0);
        case Collective::scatter: return contribution(call, root, own);
        case Collective::alltoall: return contribution(call, static_cast<int>(index), own);
        case Collective::reduce_scatter: return sum(call, measured_.ranks, own);
        case Collective::scan: return sum(call, rank_ + 1, 0);
        case Collective::exscan: return sum(call, rank_, 0);
        }
        return 0;
    }

    Measured measured_;
    Team team_;
    int rank_;
    Payload input_, output_;
    std::uint64_t call_ = 0;
};

} // namespace corymb::bench

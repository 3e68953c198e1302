// SPDX-License-Identifier: Apache-2.0
#include "plans.hpp"

#include "builder.hpp"

#include <corymb/error.hpp>
#include <corymb/planner.hpp>
#include <corymb/simulate.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <span>

namespace corymb::bench {

namespace {

constexpr std::array<std::uint64_t, 7> payloads{8, 56, 512, 4096, 16384, 65536, 262144};

using Generator = std::mt19937_64;

int draw(Generator& random, int low, int high) {
    return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

std::vector<int> first(const std::vector<int>& placement, int ranks) {
    return {placement.begin(), placement.begin() + ranks};
}

/// parent[rank] of a random tree with root 0: any earlier rank.
std::vector<Rank> random_tree(Generator& random, int ranks) {
    std::vector<Rank> parent(static_cast<std::size_t>(ranks), 0);
    for (Rank rank = 1; rank < ranks; ++rank) {
        parent[static_cast<std::size_t>(rank)] = draw(random, 0, rank - 1);
    }
    return parent;
}

/// Up and down a random tree, `times` over.
Plan tree_barrier(Generator& random, int ranks, int times) {
    PlanBuilder builder(Collective::barrier, ranks, 0, 0, 0);
    const auto parent = random_tree(random, ranks);
    for (int k = 0; k < times; ++k) {
        for (Rank rank = ranks - 1; rank > 0; --rank) {
            builder.signal(rank, parent[static_cast<std::size_t>(rank)]);
        }
        for (Rank rank = 1; rank < ranks; ++rank) {
            builder.signal(parent[static_cast<std::size_t>(rank)], rank);
        }
    }
    return builder.finish("random-tree x " + std::to_string(times));
}

/// A token goes round the ring; twice is a barrier.
Plan ring_barrier(int ranks, int times) {
    PlanBuilder builder(Collective::barrier, ranks, 0, 0, 0);
    for (int k = 0; k < 2 * times; ++k) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            builder.signal(rank, (rank + 1) % ranks);
        }
    }
    return builder.finish("ring x " + std::to_string(times));
}

Plan dissemination_barrier(int ranks, int times) {
    PlanBuilder builder(Collective::barrier, ranks, 0, 0, 0);
    for (int k = 0; k < times; ++k) {
        builder.dissemination();
    }
    return builder.finish("dissemination x " + std::to_string(times));
}

/// Messages between random ranks, then a dissemination that makes it a barrier.
Plan random_barrier(Generator& random, int ranks, int messages) {
    PlanBuilder builder(Collective::barrier, ranks, 0, 0, 0);
    for (int k = 0; k < messages; ++k) {
        const Rank from = draw(random, 0, ranks - 1);
        const Rank to = (from + draw(random, 1, ranks - 1)) % ranks;
        builder.signal(from, to);
    }
    builder.dissemination();
    return builder.finish(std::to_string(messages) + " random messages");
}

PlanFamily barrier_family(Plan plan) {
    PlanFamily family;
    family.name = plan.algorithm;
    family.op = Collective::barrier;
    family.by_root.push_back(std::move(plan));
    return family;
}

PlanFamily draw_barrier(Generator& random, int ranks) {
    switch (draw(random, 0, 3)) {
    case 0: return barrier_family(tree_barrier(random, ranks, draw(random, 1, 5)));
    case 1: return barrier_family(ring_barrier(ranks, draw(random, 1, 5)));
    case 2: return barrier_family(dissemination_barrier(ranks, draw(random, 1, 10)));
    default: return barrier_family(random_barrier(random, ranks, draw(random, 1, 16)));
    }
}

/// What a random broadcast is made of; the same for every root, which only shifts the ranks.
struct BroadcastShape {
    std::vector<Rank> parent;
    std::uint32_t blocks = 1;
    Mechanism via = Mechanism::cells;
    int round_trips = 0; ///< Needless signals from each rank to its parent and back, afterwards.
};

Plan broadcast_plan(const BroadcastShape& shape, Rank root, std::uint64_t bytes) {
    const auto ranks = static_cast<Rank>(shape.parent.size());
    const auto shifted = [&](Rank rank) {
        return (rank + root) % ranks;
    };
    PlanBuilder builder(Collective::broadcast, ranks, root, bytes, shape.blocks);
    for (std::uint32_t index = 0; index < shape.blocks; ++index) {
        for (Rank rank = 1; rank < ranks; ++rank) {
            const Rank parent = shape.parent[static_cast<std::size_t>(rank)];
            builder.block(shifted(parent), shifted(rank), index, shape.via);
        }
    }
    for (int k = 0; k < shape.round_trips; ++k) {
        for (Rank rank = 1; rank < ranks; ++rank) {
            const Rank parent = shape.parent[static_cast<std::size_t>(rank)];
            builder.signal(shifted(rank), shifted(parent));
            builder.signal(shifted(parent), shifted(rank));
        }
    }
    return builder.finish("random-tree");
}

PlanFamily draw_broadcast(Generator& random, int ranks) {
    PlanFamily family;
    family.op = Collective::broadcast;
    family.bytes = payloads[random() % payloads.size()];
    BroadcastShape shape;
    shape.parent = random_tree(random, ranks);
    constexpr std::array<std::uint32_t, 4> block_counts{1, 2, 4, 8};
    // Blocks must not be smaller than an element.
    do {
        shape.blocks = block_counts[random() % block_counts.size()];
    } while (shape.blocks * sizeof(double) > family.bytes);
    const bool short_payload = family.bytes <= line_payload_bytes;
    shape.via =
        short_payload ? Mechanism::line : (random() % 2 == 0 ? Mechanism::cells : Mechanism::pull);
    shape.round_trips = draw(random, 0, 3);
    family.name = "random-tree, " + std::string(to_string(shape.via)) + ", " +
                  std::to_string(shape.blocks) + " blocks, " + std::to_string(shape.round_trips) +
                  " extra round trips";
    for (Rank root = 0; root < ranks; ++root) {
        family.by_root.push_back(broadcast_plan(shape, root, family.bytes));
    }
    return family;
}

/// A plan of the planner for each root; empty when the algorithm does not do this size.
std::optional<PlanFamily> planned(const Machine& machine, const std::vector<int>& placement,
                                  Collective op, const std::string& algorithm,
                                  std::uint64_t bytes) {
    PlanFamily family;
    family.name = algorithm;
    family.op = op;
    family.bytes = bytes;
    const auto ranks = static_cast<Rank>(placement.size());
    for (Rank root = 0; root < (is_rooted(op) ? ranks : 1); ++root) {
        PlanRequest request;
        request.op = op;
        request.placement = placement;
        request.root = is_rooted(op) ? root : -1;
        request.bytes = bytes;
        request.algorithm = algorithm;
        request.moves = 1000;
        try {
            family.by_root.push_back(make_plan(machine, request).plan);
        } catch (const Error&) {
            return std::nullopt;
        }
    }
    return family;
}

/// Each rank hears from the next one after the operation, and answers, `times` over: needless, and
/// so a worse plan.
void add_round_trips(Plan& plan, int times) {
    const auto ranks = static_cast<std::size_t>(plan.size());
    for (int k = 0; k < 2 * times * (plan.size() - 1); ++k) {
        // Down the row of ranks and up again.
        const auto place = static_cast<std::size_t>(k) % (2 * (ranks - 1));
        const std::size_t from = place < ranks - 1 ? place : 2 * (ranks - 1) - place;
        const std::size_t to = place < ranks - 1 ? from + 1 : from - 1;
        Step& signal = plan.steps[from].emplace_back();
        signal.kind = StepKind::signal;
        signal.peer = static_cast<Rank>(to);
        Step& wait = plan.steps[to].emplace_back();
        wait.kind = StepKind::wait;
        wait.peer = static_cast<Rank>(from);
    }
}

/// Any candidate of the planner's for one of the payloads, with up to 3 needless round trips;
/// nothing if it has no plan for some root.
std::optional<PlanFamily> draw_candidate(Generator& random, const Machine& machine,
                                         const std::vector<int>& placement, Collective op) {
    PlanRequest request;
    request.op = op;
    request.placement = placement;
    request.root = is_rooted(op) ? 0 : -1;
    request.bytes = payloads[random() % payloads.size()];
    request.exhaustive = true;
    request.moves = 1000;
    const auto portfolio = make_plan(machine, request).portfolio;
    const std::string& name = portfolio[random() % portfolio.size()].first;
    auto family = planned(machine, placement, op, name, request.bytes);
    if (const int times = draw(random, 0, 3); family && times > 0) {
        for (Plan& plan : family->by_root) {
            add_round_trips(plan, times);
        }
        family->name += ", " + std::to_string(times) + " extra round trips";
    }
    return family;
}

/// Not the same plans under another name: with two ranks most trees are one tree.
bool is_new(const std::vector<PlanFamily>& families, const PlanFamily& candidate) {
    const auto hash = plan_hash(candidate.at(0));
    return std::none_of(families.begin(), families.end(), [&](const PlanFamily& known) {
        return known.op == candidate.op && known.bytes == candidate.bytes &&
               known.ranks() == candidate.ranks() && plan_hash(known.at(0)) == hash;
    });
}

std::optional<PlanFamily> draw_family(Generator& random, const Machine& machine,
                                      const std::vector<int>& placement, Collective op) {
    switch (op) {
    case Collective::barrier: return draw_barrier(random, static_cast<int>(placement.size()));
    case Collective::broadcast: return draw_broadcast(random, static_cast<int>(placement.size()));
    default: return draw_candidate(random, machine, placement, op);
    }
}

/// At most `count` different plans: the planner's first, then random ones.
std::vector<PlanFamily> families_of(const Machine& machine, const std::vector<int>& placement,
                                    Collective op, int count, Generator& random) {
    std::vector<PlanFamily> families;
    const auto wanted = static_cast<std::size_t>(count);
    const auto ranks_max = static_cast<int>(std::min<std::size_t>(placement.size(), 8));
    for (const auto& algorithm : algorithm_names(op)) {
        const std::uint64_t bytes =
            op == Collective::barrier ? 0 : payloads[random() % payloads.size()];
        const auto spots = first(placement, draw(random, 2, ranks_max));
        auto family = planned(machine, spots, op, algorithm, bytes);
        // The planner's plans are the good end; they are a third at most.
        if (family && families.size() < wanted / 3 && is_new(families, *family)) {
            families.push_back(std::move(*family));
        }
    }
    for (int attempt = 0; families.size() < wanted && attempt < 100 * count; ++attempt) {
        const auto spots = first(placement, draw(random, 2, ranks_max));
        auto family = draw_family(random, machine, spots, op);
        if (family && is_new(families, *family)) {
            for (const auto& plan : family->by_root) {
                check_plan(plan);
            }
            families.push_back(std::move(*family));
        }
    }
    return families;
}

/// The same plan in blocks `factor` times as many, each a part of one of before.
void divide_blocks(Plan& plan, std::uint32_t factor) {
    plan.block_count *= factor;
    plan.scratch_blocks *= factor;
    for (auto& steps : plan.steps) {
        for (Step& step : steps) {
            for (Blocks* blocks : {&step.from, &step.to}) {
                blocks->first *= factor;
                blocks->count *= factor;
            }
        }
    }
}

/// The family in blocks of one size: the planner may divide a payload differently for each root.
std::vector<Plan> evenly_divided(const PlanFamily& family) {
    std::vector<Plan> plans = family.by_root;
    std::uint32_t block_count = 1;
    for (const Plan& plan : plans) {
        block_count = std::lcm(block_count, std::max(plan.block_count, 1U));
    }
    for (Plan& plan : plans) {
        if (plan.block_count != 0) {
            divide_blocks(plan, block_count / plan.block_count);
        }
    }
    return plans;
}

/// The operation in which every rank has the buffers that the root of `op` has.
Collective without_root(Collective op) {
    switch (op) {
    case Collective::reduce: return Collective::allreduce;
    case Collective::gather: return Collective::allgather;
    case Collective::scatter: return Collective::alltoall;
    default: return op;
    }
}

/// `times` operations as one plan, the root moving on.
Plan repeated(const std::vector<Plan>& by_root, int times) {
    Plan whole = by_root.front();
    whole.op = without_root(whole.op);
    for (auto& steps : whole.steps) {
        steps.clear();
    }
    std::vector<std::uint32_t> published(whole.steps.size(), 0);
    for (int k = 0; k < times; ++k) {
        const Plan& plan = by_root[static_cast<std::size_t>(k) % by_root.size()];
        whole.scratch_blocks = std::max(whole.scratch_blocks, plan.scratch_blocks);
        std::vector<std::uint32_t> before = published;
        for (std::size_t rank = 0; rank < plan.steps.size(); ++rank) {
            for (Step step : plan.steps[rank]) {
                if (step.kind == StepKind::read || step.kind == StepKind::read_fold) {
                    step.ordinal += before[static_cast<std::size_t>(step.peer)];
                }
                published[rank] += step.kind == StepKind::publish ? 1U : 0U;
                whole.steps[rank].push_back(step);
            }
        }
    }
    return whole;
}

} // namespace

std::vector<PlanFamily> plans_to_predict(const Machine& machine, const std::vector<int>& placement,
                                         int count, std::uint64_t seed) {
    Generator random(seed);
    std::vector<PlanFamily> families;
    constexpr auto operations = static_cast<int>(collective_count);
    for (int op = 0; op < operations; ++op) {
        // The first operations have one more if the number does not go up evenly.
        const int share = (count + operations - 1 - op) / operations;
        auto more = families_of(machine, placement, static_cast<Collective>(op), share, random);
        families.insert(families.end(), std::make_move_iterator(more.begin()),
                        std::make_move_iterator(more.end()));
    }
    return families;
}

double steady_prediction(const PlanFamily& family, const Machine& machine,
                         const std::vector<int>& placement) {
    // A whole number of turns of the root, long enough for run-ahead to settle.
    const int turn = 2 * family.ranks();
    const auto spots = first(placement, family.ranks());
    const auto plans = evenly_divided(family);
    const auto makespan = [&](int times) {
        return simulate(repeated(plans, times), machine, spots, family.bytes).makespan;
    };
    return (makespan(3 * turn) - makespan(turn)) / (2 * turn);
}

std::uint64_t message_count(const Plan& plan) {
    std::uint64_t count = 0;
    for (const auto& steps : plan.steps) {
        count += static_cast<std::uint64_t>(
            std::count_if(steps.begin(), steps.end(), [](const Step& step) {
                return step.kind == StepKind::signal || step.kind == StepKind::send ||
                       step.kind == StepKind::publish;
            }));
    }
    return count;
}

} // namespace corymb::bench

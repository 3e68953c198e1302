// SPDX-License-Identifier: Apache-2.0
// Dissemination barrier (Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991) of radix k: in
// the round with distance d = k^r, position p signals p + d, p + 2 d, ..., p + (k - 1) d and waits
// for as many. Which rank has which position decides how many rounds cross the slow links: two
// groups that alternate cross in the first round only.
#include "plan/generate/family_list.hpp"
#include "plan/generate/numbering.hpp"
#include "plan/generate/plan_writer.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace corymb::generate {

namespace {

struct Signal {
    double time;
    Rank peer;
};

/// The rounds of one numbering, replayed event by event: no rank waits for a whole round to end.
class Replay {
public:
    Replay(const CostView& costs, std::int64_t radix, bool far_first)
        : costs_(costs), radix_(radix) {
        for (std::int64_t distance = 1; distance < costs.size(); distance *= radix) {
            distances_.push_back(distance);
        }
        if (far_first) {
            std::ranges::reverse(distances_);
        }
    }

    [[nodiscard]] std::size_t rounds() const { return distances_.size(); }

    /// Makespan; with a writer, also writes the steps.
    double run(const Numbering& numbering, PlanWriter* writer = nullptr) {
        const auto size = static_cast<std::int64_t>(numbering.size());
        clock_.assign(numbering.size(), 0.0);
        arrivals_.resize(numbering.size());
        for (const std::int64_t distance : distances_) {
            for (auto& arrivals : arrivals_) {
                arrivals.clear();
            }
            for (std::int64_t position = 0; position < size; ++position) {
                send_round(numbering, position, distance, writer);
            }
            for (std::int64_t position = 0; position < size; ++position) {
                wait_round(numbering, position, writer);
            }
        }
        return *std::ranges::max_element(clock_);
    }

private:
    static std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

    void send_round(const Numbering& numbering, std::int64_t position, std::int64_t distance,
                    PlanWriter* writer) {
        const auto size = static_cast<std::int64_t>(numbering.size());
        const Rank rank = numbering[at(position)];
        targets_.clear();
        for (std::int64_t offset = distance; offset < size && offset < distance * radix_;
             offset += distance) {
            targets_.push_back((position + offset) % size);
        }
        // The signal that travels longest goes first.
        if (targets_.size() > 1) {
            std::ranges::stable_sort(targets_, std::ranges::greater{}, [&](std::int64_t target) {
                return costs_.receive(rank, numbering[at(target)]);
            });
        }
        for (const std::int64_t target : targets_) {
            clock_[at(position)] += costs_.send(rank, numbering[at(target)]);
            arrivals_[at(target)].push_back({clock_[at(position)], rank});
            if (writer != nullptr) {
                writer->signal(rank, numbering[at(target)]);
            }
        }
    }

    void wait_round(const Numbering& numbering, std::int64_t position, PlanWriter* writer) {
        auto& arrivals = arrivals_[at(position)];
        const Rank rank = numbering[at(position)];
        if (arrivals.size() > 1) {
            std::ranges::stable_sort(arrivals, std::ranges::less{}, &Signal::time);
        }
        for (const Signal& arrival : arrivals) {
            clock_[at(position)] =
                std::max(clock_[at(position)], arrival.time) + costs_.receive(arrival.peer, rank);
            if (writer != nullptr) {
                writer->wait(rank, arrival.peer);
            }
        }
    }

    const CostView& costs_;
    std::int64_t radix_;
    std::vector<std::int64_t> distances_;
    std::vector<double> clock_;
    std::vector<std::vector<Signal>> arrivals_;
    std::vector<std::int64_t> targets_;
};

bool applies(Collective op, const GenerateInput&) {
    return op == Collective::barrier;
}

Plan make(const GenerateInput& input, std::int64_t radix, std::string_view name) {
    // A few hundredths of a second for any size. Higher radices sort what they send and receive,
    // and win seldom.
    const std::uint64_t signals_max = radix == 2 ? 2'000'000 : 250'000;
    Numbering best;
    bool best_far_first = false;
    double best_cost = 0;
    for (const bool far_first : {false, true}) {
        Replay replay(input.costs, radix, far_first);
        const std::uint64_t signals = static_cast<std::uint64_t>(input.costs.size()) *
                                      std::max<std::size_t>(replay.rounds(), 1) *
                                      static_cast<std::uint64_t>(radix - 1);
        const std::uint64_t trials = std::min(moves_of(input), signals_max / signals);
        Numbering numbering = best_numbering(
            input, trials, [&](const Numbering& candidate) { return replay.run(candidate); });
        const double cost = replay.run(numbering);
        if (best.empty() || cost < best_cost) {
            best = std::move(numbering);
            best_cost = cost;
            best_far_first = far_first;
        }
    }
    PlanWriter writer(Collective::barrier, input.costs.size(), 0, {}, name);
    Replay(input.costs, radix, best_far_first).run(best, &writer);
    return std::move(writer).finished();
}

Plan make_2(Collective, const GenerateInput& input) {
    return make(input, 2, dissemination_2.name);
}
Plan make_3(Collective, const GenerateInput& input) {
    return make(input, 3, dissemination_3.name);
}
Plan make_4(Collective, const GenerateInput& input) {
    return make(input, 4, dissemination_4.name);
}

} // namespace

constinit const Family dissemination_2{"dissemination-2", applies, make_2};
constinit const Family dissemination_3{"dissemination-3", applies, make_3};
constinit const Family dissemination_4{"dissemination-4", applies, make_4};

} // namespace corymb::generate

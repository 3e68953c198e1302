// SPDX-License-Identifier: Apache-2.0
#include "evaluate.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace corymb::test {

namespace {

class Evaluator {
public:
    Evaluator(const Plan& plan, const CostView& costs)
        : plan_(plan), costs_(costs), clock_(plan.steps.size(), 0.0), next_(plan.steps.size(), 0),
          published_(plan.steps.size()) {}

    double run() {
        bool moved = true;
        while (moved) {
            moved = false;
            for (Rank rank = 0; rank < plan_.size(); ++rank) {
                while (try_step(rank)) {
                    moved = true;
                }
            }
        }
        for (Rank rank = 0; rank < plan_.size(); ++rank) {
            if (next_[at(rank)] < plan_.steps[at(rank)].size()) {
                throw std::runtime_error("deadlock");
            }
        }
        return *std::max_element(clock_.begin(), clock_.end());
    }

private:
    static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

    bool try_step(Rank rank) {
        std::size_t& next = next_[at(rank)];
        if (next == plan_.steps[at(rank)].size()) {
            return false;
        }
        const Step& step = plan_.steps[at(rank)][next];
        double& clock = clock_[at(rank)];
        switch (step.kind) {
        case StepKind::signal:
        case StepKind::send:
        case StepKind::offer: {
            clock += costs_.send(rank, step.peer);
            auto& queue = step.kind == StepKind::signal ? signals_ : messages_;
            queue[{rank, step.peer}].push_back(clock);
            break;
        }
        case StepKind::wait:
        case StepKind::recv:
        case StepKind::fold:
        case StepKind::put:
        case StepKind::put_fold: {
            const bool is_wait = step.kind == StepKind::wait;
            auto& queue = (is_wait ? signals_ : messages_)[{step.peer, rank}];
            std::size_t& taken = (is_wait ? waited_ : received_)[{step.peer, rank}];
            if (taken == queue.size()) {
                return false;
            }
            clock = std::max(clock, queue[taken++]) + costs_.receive(step.peer, rank);
            break;
        }
        case StepKind::publish: {
            double dearest = 0;
            for (Rank other = 0; other < plan_.size(); ++other) {
                if (other != rank) {
                    dearest = std::max(dearest, costs_.send(rank, other));
                }
            }
            clock += dearest;
            published_[at(rank)].push_back(clock);
            break;
        }
        case StepKind::read:
        case StepKind::read_fold: {
            const auto& times = published_[at(step.peer)];
            if (step.ordinal >= times.size()) {
                return false;
            }
            clock = std::max(clock, times[step.ordinal]) + costs_.receive(step.peer, rank);
            break;
        }
        case StepKind::copy: break;
        }
        ++next;
        return true;
    }

    const Plan& plan_;
    const CostView& costs_;
    std::vector<double> clock_;
    std::vector<std::size_t> next_;
    std::vector<std::vector<double>> published_;
    std::map<std::pair<Rank, Rank>, std::vector<double>> signals_, messages_;
    std::map<std::pair<Rank, Rank>, std::size_t> waited_, received_;
};

} // namespace

double evaluate(const Plan& plan, const CostView& costs) {
    return Evaluator(plan, costs).run();
}

} // namespace corymb::test

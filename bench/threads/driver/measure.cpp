// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include "../../engine/turns.hpp"
#include "../worker/time.hpp"
#include "entrant.hpp"
#include "interrupt.hpp"

#include <algorithm>
#include <memory>
#include <random>

namespace corymb::bench {

namespace {

constexpr std::int64_t millisecond = 1'000'000;

std::int64_t choose_slot(const Case& what, std::size_t contestants, const Schedule& schedule) {
    if (schedule.slot_ns > 0) {
        return schedule.slot_ns;
    }
    const std::int64_t share = (schedule.end_ns - schedule.begin_ns) /
                               static_cast<std::int64_t>(std::max<std::size_t>(contestants, 1));
    const std::int64_t slot = std::clamp(share / 9, 3 * millisecond, 50 * millisecond);
    switch (what.regime) {
    case Regime::late: return std::max(slot, 5 * late_ns);
    case Regime::neighbour: // Several time slices of the scheduler must fit.
        return std::max(slot, 40 * millisecond);
    default: return slot;
    }
}

/// Keeps the last CPU busy during slots.
class Neighbour {
public:
    explicit Neighbour(const Case& what) {
        if (what.regime == Regime::neighbour) {
            const int cpu = allowed_cpus().back();
            child_ = std::make_unique<Child>(std::vector<std::string>{program_path(Program::native),
                                                                      "--hog", std::to_string(cpu)},
                                             Environment{});
            child_->stop();
        }
    }
    void wake() {
        if (child_) {
            child_->resume();
        }
    }
    void rest() {
        if (child_) {
            child_->stop();
        }
    }

private:
    std::unique_ptr<Child> child_;
};

class CaseRun {
public:
    CaseRun(const Case& what, const std::vector<Contestant>& contestants, const Schedule& schedule,
            const Progress& progress)
        : what_(what), schedule_(schedule), progress_(progress),
          slot_ns_(choose_slot(what, contestants.size(), schedule)), neighbour_(what),
          random_(schedule.seed) {
        for (const auto& contestant : contestants) {
            entrants_.emplace_back(contestant);
        }
    }

    /// Starts as many as can still have slots when time is short.
    void prepare() {
        const std::int64_t whole = schedule_.end_ns - schedule_.begin_ns;
        for (auto& entrant : entrants_) {
            check_interrupt();
            if (wall_ns() >= schedule_.end_ns - whole / 3) {
                entrant.skip("no time left to start it; give more with --seconds");
                continue;
            }
            entrant.prepare(what_, slot_ns_, deadline());
            report();
        }
    }

    void rounds() {
        take_turns(entrants_.size(), random_, [this](std::size_t index) {
            if (wall_ns() >= schedule_.end_ns) {
                return Turn::over;
            }
            if (!wants_turn(entrants_[index])) {
                return Turn::passed;
            }
            turn(entrants_[index]);
            return Turn::taken;
        });
    }

    [[nodiscard]] std::vector<Outcome> outcomes() const {
        std::vector<Outcome> list;
        for (const auto& entrant : entrants_) {
            list.push_back(entrant.outcome());
        }
        return list;
    }

private:
    /// A contestant that is slower than a slot must not eat the others' time.
    [[nodiscard]] bool wants_turn(const Entrant& entrant) const {
        const std::int64_t share =
            (schedule_.end_ns - schedule_.begin_ns) / static_cast<std::int64_t>(entrants_.size());
        return entrant.running() && (entrant.slots() < 3 || entrant.used_ns() < 2 * share);
    }

    void turn(Entrant& entrant) {
        neighbour_.wake();
        entrant.take_turn(slot_ns_, deadline());
        neighbour_.rest();
        report();
    }

    /// The longest that one answer may take.
    [[nodiscard]] std::int64_t deadline() const {
        const std::int64_t third = (schedule_.end_ns - schedule_.begin_ns) / 3;
        const std::int64_t patience =
            std::clamp(third, 1000 * millisecond, 3000 * millisecond) + 20 * slot_ns_;
        return wall_ns() + patience;
    }

    void report() const {
        const auto done = static_cast<double>(wall_ns() - schedule_.begin_ns);
        const auto whole = static_cast<double>(schedule_.end_ns - schedule_.begin_ns);
        progress_(std::clamp(done / std::max(whole, 1.0), 0.0, 1.0));
    }

    const Case& what_;
    const Schedule& schedule_;
    const Progress& progress_;
    std::int64_t slot_ns_;
    Neighbour neighbour_;
    std::mt19937_64 random_;
    std::vector<Entrant> entrants_;
};

} // namespace

std::vector<Outcome> measure_case(const Case& what, const std::vector<Contestant>& contestants,
                                  const Schedule& schedule, const Progress& progress) {
    CaseRun run(what, contestants, schedule, progress);
    run.prepare();
    run.rounds();
    return run.outcomes();
}

} // namespace corymb::bench

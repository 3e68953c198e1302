// SPDX-License-Identifier: Apache-2.0
// Finds deadlocks in two looks at the tasks of a group.
//
// Tasks wait for all of several others, so a task is stuck if one of those is. What can go on is
// taken away, and what it can end; what is left is stuck. This is the reduction of a graph of waits
// (Holt, Computing Surveys 1972).
//
// Each rank shows itself at a moment of its own. Why what is found is true nevertheless: let T be a
// moment after the first look of all ranks and before the second of any. A task counts as waiting
// only if both looks show the same wait, so it waits throughout, at T as well. A call that it waits
// for is the one which the called task serves, since a rank does not use the number of a call again
// before the answer has come. Suppose that some of the stuck tasks go on after T, and take the
// first. By the second look on its rank it waits for another stuck task, which must have answered,
// ended, or left an object later than that look, and so must have gone on even earlier.
#include <corymb/waits.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb {

namespace {

using WaitKind = TaskWait::Kind;
using Node = std::size_t;
using CallKey = std::pair<Rank, std::uint32_t>; ///< Who has begun it, and its number.

CallKey key_of(const CallUnderWay& call) {
    return {call.from, call.number};
}

/// The tasks of all ranks and who waits for whom.
class WaitGraph {
public:
    WaitGraph(const std::vector<RankWaits>& before, const std::vector<RankWaits>& after);
    /// Those that are stuck and wait for each other, in the order in which they wait; empty: none.
    [[nodiscard]] std::vector<Node> cycle() const;
    [[nodiscard]] std::vector<Deadlock::Stuck> stuck() const {
        std::vector<Deadlock::Stuck> all;
        for (const Entry& one : tasks_) {
            if (!one.is_free) {
                all.push_back({one.rank, one.shown->wait});
            }
        }
        return all;
    }
    [[nodiscard]] Deadlock::Step step(Node node) const {
        const TaskWait& shown = *tasks_[node].shown;
        return {tasks_[node].rank, shown.wait, shown.runs, shown.waits_for};
    }

private:
    struct Entry {
        Rank rank;
        const TaskWait* shown;
        std::vector<Node> waits_for; ///< All of them.
        std::vector<Node> waiting;   ///< For this one.
        std::vector<Node> stops;     ///< Those that end when this one is asked to stop.
        std::vector<Node> rivals;    ///< Those that end when this one ends.
        std::size_t left = 0;        ///< How many of `waits_for` are not free.
        bool is_free = false;        ///< It can go on, now or when others have.
        bool can_be_stopped = false;
    };
    void add_waits(const RankWaits& of, Node first);
    void add_served(const RankWaits& of, Node first, const std::set<CallKey>& pending);
    void add_wait(Node from, Node to) {
        tasks_[from].waits_for.push_back(to);
        tasks_[to].waiting.push_back(from);
        ++tasks_[from].left;
    }
    void set_free(Node node) {
        if (!std::exchange(tasks_[node].is_free, true)) {
            freed_.push_back(node);
        }
    }
    void set_stoppable(Node node) {
        if (!std::exchange(tasks_[node].can_be_stopped, true)) {
            stoppable_.push_back(node);
            set_free(node);
        }
    }
    void reduce();
    void pass_on_freedom(Node freed);
    void pass_on_stop(Node stoppable) {
        for (const Node other : tasks_[stoppable].stops) {
            set_stoppable(other);
        }
    }

    std::vector<Entry> tasks_;
    std::map<CallKey, Node> waiting_for_; ///< Who waits for the end of the call.
    std::vector<Node> freed_;             ///< Those that wait for them do not know yet.
    std::vector<Node> stoppable_;         ///< Those that end with them do not know yet.
};

WaitGraph::WaitGraph(const std::vector<RankWaits>& before, const std::vector<RankWaits>& after) {
    std::vector<Node> firsts;
    std::set<CallKey> pending;
    for (const RankWaits& of : after) {
        firsts.push_back(tasks_.size());
        for (const CallUnderWay& call : of.calls) {
            pending.insert(key_of(call));
        }
        for (const TaskWait& shown : of.tasks) {
            tasks_.push_back({of.rank, &shown, {}, {}, {}, {}, 0, false, false});
        }
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
        add_waits(after[i], firsts[i]);
    }
    for (std::size_t i = 0; i < after.size(); ++i) {
        add_served(after[i], firsts[i], pending);
    }
    std::set<std::pair<Rank, std::uint64_t>> seen;
    for (const RankWaits& of : before) {
        for (const TaskWait& shown : of.tasks) {
            if (shown.kind != WaitKind::nothing) {
                seen.emplace(of.rank, shown.wait);
            }
        }
    }
    for (Node node = 0; node < tasks_.size(); ++node) {
        const TaskWait& shown = *tasks_[node].shown;
        if (tasks_[node].left == 0 || shown.kind == WaitKind::nothing ||
            shown.kind == WaitKind::other || !seen.contains({tasks_[node].rank, shown.wait})) {
            set_free(node);
        }
        if (shown.has_own_stop) {
            set_stoppable(node);
        }
    }
    reduce();
}

void WaitGraph::add_waits(const RankWaits& of, Node first) {
    std::unordered_map<std::uint32_t, std::vector<Node>> races;
    for (std::size_t i = 0; i < of.tasks.size(); ++i) {
        const TaskWait& shown = of.tasks[i];
        for (const std::uint32_t other : shown.tasks) {
            add_wait(first + i, first + other);
        }
        for (const CallUnderWay& call : shown.calls) {
            waiting_for_.emplace(key_of(call), first + i);
        }
        if (shown.belongs_to != 0) {
            tasks_[first + shown.belongs_to - 1].stops.push_back(first + i);
        }
        if (shown.race != 0) {
            races[shown.race].push_back(first + i);
        }
    }
    for (const auto& [race, all] : races) {
        for (const Node one : all) {
            tasks_[one].rivals = all;
        }
    }
}

/// A call whose caller waits no more has a stop on its way.
void WaitGraph::add_served(const RankWaits& of, Node first, const std::set<CallKey>& pending) {
    for (std::size_t i = 0; i < of.tasks.size(); ++i) {
        const CallUnderWay& call = of.tasks[i].serves;
        if (call.from < 0) {
            continue;
        }
        if (const auto found = waiting_for_.find(key_of(call)); found != waiting_for_.end()) {
            add_wait(found->second, first + i);
            tasks_[found->second].stops.push_back(first + i);
        }
        if (!pending.contains(key_of(call))) {
            set_stoppable(first + i);
        }
    }
}

void WaitGraph::reduce() {
    while (!freed_.empty() || !stoppable_.empty()) {
        if (stoppable_.empty()) {
            const Node freed = freed_.back();
            freed_.pop_back();
            pass_on_freedom(freed);
        } else {
            const Node stoppable = stoppable_.back();
            stoppable_.pop_back();
            pass_on_stop(stoppable);
        }
    }
}

void WaitGraph::pass_on_freedom(Node freed) {
    for (const Node waiting : tasks_[freed].waiting) {
        if (--tasks_[waiting].left == 0) {
            set_free(waiting);
        }
    }
    for (const Node rival : tasks_[freed].rivals) {
        if (rival != freed) {
            set_stoppable(rival);
        }
    }
}

std::vector<Node> WaitGraph::cycle() const {
    const auto stuck = [this](Node node) {
        return !tasks_[node].is_free;
    };
    std::vector<Node> way;
    std::vector<bool> is_on_way(tasks_.size());
    Node node = 0;
    while (node < tasks_.size() && !stuck(node)) {
        ++node;
    }
    if (node == tasks_.size()) {
        return way;
    }
    while (!is_on_way[node]) {
        is_on_way[node] = true;
        way.push_back(node);
        node = *std::ranges::find_if(tasks_[node].waits_for, stuck);
    }
    way.erase(way.begin(), std::ranges::find(way, node));
    const auto order = [this](Node of) {
        return std::pair(tasks_[of].rank, tasks_[of].shown->wait);
    };
    std::ranges::rotate(way, std::ranges::min_element(way, {}, order));
    return way;
}

} // namespace

std::optional<Deadlock> deadlock_in(const std::vector<RankWaits>& before,
                                    const std::vector<RankWaits>& after) {
    const WaitGraph graph(before, after);
    const std::vector<Node> cycle = graph.cycle();
    if (cycle.empty()) {
        return std::nullopt;
    }
    Deadlock found;
    for (const Node node : cycle) {
        found.steps.push_back(graph.step(node));
    }
    found.stuck = graph.stuck();
    return found;
}

std::string Deadlock::text() const {
    std::string all = std::to_string(steps.size()) + " tasks wait for each other: ";
    for (const Step& step : steps) {
        all += "on rank " + std::to_string(step.rank) + " " + step.runs + " waits for " +
               step.waits_for + "; ";
    }
    all += "which is the first one";
    const std::size_t others = stuck.size() - steps.size();
    return others == 0 ? all : all + ". " + std::to_string(others) + " others wait for these";
}

std::vector<Rank> Deadlock::ranks() const {
    std::vector<Rank> all;
    for (const Step& step : steps) {
        all.push_back(step.rank);
    }
    std::ranges::sort(all);
    const auto doubles = std::ranges::unique(all);
    all.erase(doubles.begin(), doubles.end());
    return all;
}

} // namespace corymb

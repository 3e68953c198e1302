// SPDX-License-Identifier: Apache-2.0
#include "plan/search/growth_bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace corymb {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Job {
    double busy, latency;
};

/// Possible children of one rank, dearest latency first: the order of deadlines for any limit.
using Jobs = std::vector<Job>;

/// Most children that can be served within `limit` (Moore, Hodgson): take jobs by deadline, and
/// when one is late drop the longest taken so far.
std::size_t served_within(const Jobs& jobs, double limit) {
    std::priority_queue<double> taken;
    double clock = 0;
    for (const Job& job : jobs) {
        if (job.busy + job.latency > limit) {
            continue;
        }
        clock += job.busy;
        taken.push(job.busy);
        if (clock + job.latency > limit) {
            clock -= taken.top();
            taken.pop();
        }
    }
    return taken.size();
}

/// Largest time known not to suffice for `count` children; `enough` suffices.
double time_for(const Jobs& jobs, std::size_t count, double enough) {
    double low = 0;
    double high = enough;
    for (int step = 0; step < 30; ++step) {
        const double middle = (low + high) / 2;
        (served_within(jobs, middle) >= count ? high : low) = middle;
    }
    return low;
}

/// The earliest time at which any of some ranks can have served its k-th child, for k = 1, 2, ...
class Profile {
public:
    explicit Profile(std::vector<Jobs> ranks) : ranks_(std::move(ranks)) {
        for (Jobs& jobs : ranks_) {
            std::ranges::sort(jobs, std::ranges::greater{}, &Job::latency);
            double total = 0;
            for (const Job& job : jobs) {
                total += job.busy;
            }
            whole_ = std::max(whole_, jobs.empty() ? 0 : total + jobs.front().latency);
        }
    }

    double operator()(std::size_t count) {
        while (times_.size() < count) {
            times_.push_back(next(times_.size() + 1));
        }
        return times_[count - 1];
    }

private:
    [[nodiscard]] double next(std::size_t count) const {
        double best = never;
        for (const Jobs& jobs : ranks_) {
            const double enough = best == never ? whole_ : best;
            if (jobs.size() >= count && served_within(jobs, enough) >= count) {
                best = time_for(jobs, count, enough);
            }
        }
        return best;
    }

    std::vector<Jobs> ranks_;
    std::vector<double> times_;
    double whole_ = 0;
};

std::vector<Jobs> jobs_of_all(const TreeCosts& costs,
                              const std::function<bool(Rank, Rank)>& counts) {
    std::vector<Jobs> all;
    for (Rank parent = 0; parent < costs.size(); ++parent) {
        Jobs& jobs = all.emplace_back();
        for (Rank child = 0; child < costs.size(); ++child) {
            if (child != parent && counts(parent, child)) {
                jobs.push_back({costs.busy(parent, child), costs.latency(parent, child)});
            }
        }
    }
    return all;
}

/// Times at which the first, second, ... rank is informed when everybody grows by `profile` and the
/// first rank by `root_profile`; stops at `count` ranks or when growth ends.
std::vector<double> growth(Profile& root_profile, Profile& profile, std::size_t count) {
    using Event = std::tuple<double, double, std::size_t, bool>; // time, start, child, is root
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::vector<double> informed{0};
    events.emplace(root_profile(1), 0.0, 1, true);
    while (informed.size() < count) {
        const auto [time, start, child, is_root] = events.top();
        if (time == never) {
            break;
        }
        events.pop();
        informed.push_back(time);
        Profile& own = is_root ? root_profile : profile;
        events.emplace(start + own(child + 1), start, child + 1, is_root);
        events.emplace(time + profile(1), time, 1, false);
    }
    return informed;
}

} // namespace

double growth_bound(const TreeCosts& costs, Rank root) {
    const auto everybody = [](Rank, Rank) {
        return true;
    };
    std::vector<Jobs> all = jobs_of_all(costs, everybody);
    std::vector<Jobs> of_root;
    if (root < 0) {
        of_root = all;
    } else {
        of_root.push_back(all[static_cast<std::size_t>(root)]);
    }
    Profile root_profile(std::move(of_root));
    Profile profile(std::move(all));
    const auto size = static_cast<std::size_t>(costs.size());
    return growth(root_profile, profile, size).back();
}

double cluster_growth_bound(const TreeCosts& costs, const Partition& partition) {
    const auto same = [&](Rank a, Rank b) {
        return partition[static_cast<std::size_t>(a)] == partition[static_cast<std::size_t>(b)];
    };
    Profile local(jobs_of_all(costs, same));
    Profile cross(jobs_of_all(costs, [&](Rank a, Rank b) { return !same(a, b); }));
    std::size_t largest = 0;
    for (const auto& members : members_of(partition)) {
        largest = std::max(largest, members.size());
    }
    const std::vector<double> inside = growth(local, local, largest);
    // An event informs one rank: the next of an entry's group, or a new entry.
    struct Event {
        double time, start;
        std::size_t number; ///< Number of the local rank, or of the cross child.
        bool is_entry;
        bool operator>(const Event& other) const { return time > other.time; }
    };
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    const auto add_local = [&](double start, std::size_t number) {
        if (number < inside.size()) {
            events.push({start + inside[number], start, number, false});
        }
    };
    const auto add_cross = [&](double start, std::size_t number) {
        events.push({start + cross(number), start, number, true});
    };
    add_local(0, 1);
    add_cross(0, 1);
    double time = 0;
    for (Rank informed = 1; informed < costs.size(); ++informed) {
        const Event event = events.top();
        events.pop();
        time = event.time;
        if (event.is_entry) {
            add_cross(event.start, event.number + 1);
            add_local(time, 1);
        } else {
            add_local(event.start, event.number + 1);
        }
        add_cross(time, 1);
    }
    return time;
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Times plans beside each other, on buffers of the team's own. Each round times all plans that are
// left, each operation after a barrier. A plan's time is that of its slowest rank. The better half
// stays for the next round, which is twice as long.
#include "base/clock.hpp"
#include "cluster/attic.hpp"
#include "cluster/cluster_member.hpp"
#include "cluster/tuning.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb::cluster {

namespace {

/// Replies of rank 0. In front of plans stands how often each is timed in the first round, and
/// whether there was time for all of them.
enum Reply : char { later = 'l', never = 'n', plans_follow = 'p' };
enum Extent : char { whole = 'w', part = 't' };

double median(std::vector<double> times) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
}

/// How the ranks find the slowest of them.
CollectiveOperation largest_of_all(const std::vector<double>& own, std::vector<double>& largest) {
    CollectiveOperation operation{Collective::allreduce};
    operation.input = own.data();
    operation.output = largest.data();
    operation.count = own.size();
    operation.reduction = reduction_of(ElementType::float64, Operator::max);
    return operation;
}

} // namespace

struct ClusterMember::Contender {
    FarKey* known;
    std::unique_ptr<FarKey> own;    ///< None: the present plan, which barriers may need meanwhile.
    std::vector<double> times_ns{}; ///< Times of the slowest rank.

    [[nodiscard]] double median_ns() const { return median(times_ns); }
    [[nodiscard]] double score() const { return (own ? 1.0 : tuning::clearly_less) * median_ns(); }
};

/// Called before the call, on all ranks. Its messages are not counted.
void ClusterMember::rehearse(const detail::Call& call) {
    struct Uncounted {
        explicit Uncounted(ClusterPending& counting, Carried& usual) noexcept
            : pending(counting), counted(usual) {
            pending.count_blocking_in(ignored);
        }
        Uncounted(const Uncounted&) = delete;
        Uncounted& operator=(const Uncounted&) = delete;
        ~Uncounted() { pending.count_blocking_in(counted); }
        ClusterPending& pending;
        Carried& counted;
        Carried ignored{};
    };
    const Uncounted uncounted(pending_, station_.carried);
    prepare_and_compete(call);
}

/// After a failure messages may still use the buffers.
template <class Buffers, class Action>
void ClusterMember::with_buffers(Buffers&& buffers, const Action& action) {
    try {
        action(buffers);
    } catch (...) {
        keep_for_good(std::forward<Buffers>(buffers));
        throw;
    }
}

void ClusterMember::prepare_and_compete(const detail::Call& call) {
    const std::int64_t began_ns = now_ns();
    const std::string has_any = pending_.ask(call, [&](bool all_can_pull) -> Texts {
        // The tries alone take as long as two plans, so nothing would be gained.
        if (rehearsals_.plans_most(call.key, rehearsals_.mean_ns(call.key)) < 2) {
            return {std::string{later}};
        }
        const bool is_possible =
            can_compare(all_can_pull) && station_.has_alternatives(call.key, all_can_pull);
        return {std::string{is_possible ? plans_follow : never}};
    });
    if (has_any.front() == never) {
        rehearsals_.conclude(call.key);
    }
    if (has_any.front() != plans_follow) {
        return;
    }
    with_buffers(std::make_unique<StandIn>(call), [&](const std::unique_ptr<StandIn>& stand_in) {
        measure_and_compete(call, stand_in->call());
    });
    rehearsals_.spend(call.key, now_ns() - began_ns);
}

/// On rank 0: whether the source has plans for the operations that rehearsals use. A user's source
/// need not have them.
bool ClusterMember::can_compare(bool all_can_pull) {
    std::vector<double> times(RehearsalPlan::times_of_round_most);
    return std::ranges::all_of(
        std::array{CollectiveOperation{}, largest_of_all(times, times)},
        [&](const CollectiveOperation& operation) {
            return !station_
                        .plan_texts(detail::collective_call(rank(), size(), operation).key,
                                    all_can_pull)
                        .front()
                        .starts_with('!');
        });
}

/// Rehearses with `stand_in` instead of the call.
void ClusterMember::measure_and_compete(const detail::Call& call, const detail::Call& stand_in) {
    std::int64_t one_ns = std::numeric_limits<std::int64_t>::max();
    for (int try_number = 0; try_number < tuning::tries; ++try_number) {
        const std::int64_t try_began_ns = now_ns();
        static_cast<void>(timed(stand_in, nullptr));
        one_ns = std::min(one_ns, now_ns() - try_began_ns);
    }
    const std::string reply = pending_.ask(call, [&](bool /*all_can_pull*/) -> Texts {
        const std::size_t most = rehearsals_.plans_most(call.key, one_ns);
        if (most < 2) {
            return {std::string{later}};
        }
        const std::size_t wanted = rehearsals_.others_most(call.key);
        const std::vector<int> others = station_.next_alternatives(
            call.key, std::min(most - 1, wanted), rehearsals_.is_final(call.key));
        const auto samples =
            static_cast<char>(rehearsals_.first_samples(call.key, 1 + others.size(), one_ns));
        const char extent = others.size() < most - 1 || others.size() == wanted ? whole : part;
        return station_.alternatives_texts(call.key, others, {plans_follow, samples, extent});
    });
    if (reply.front() == plans_follow) {
        compete(stand_in, reply[1], reply[2] == whole,
                station_.alternatives_of(std::string_view(reply).substr(3)));
    }
}

void ClusterMember::compete(const detail::Call& call, int samples, bool is_whole,
                            std::vector<Station::Alternative> alternatives) {
    std::vector<Contender> field;
    field.push_back({pending_.blocking_key(call.key).get(), nullptr});
    // Each plan that is ever timed has a number of its own.
    auto number = static_cast<int>(rehearsals_.timed(call.key));
    rehearsals_.count(call.key, alternatives.size(), is_whole);
    for (Station::Alternative& alternative : alternatives) {
        ++number;
        auto known = std::make_unique<FarKey>();
        known->plan = far_plan_of(station_, call.key, std::move(alternative.part),
                                  static_cast<unsigned>(number));
        known->alternative = alternative.number;
        FarKey* const place = known.get();
        field.push_back({place, std::move(known)});
    }
    narrow(field, call, samples);
    if (rank() == 0) {
        for (const Contender& contender : field) {
            station_.note(call.key, contender.known->alternative,
                          contender.median_ns() / field.front().median_ns());
        }
        station_.settle(call.key, field.front().known->alternative);
    }
    if (field.front().own) {
        pending_.blocking_key(call.key) = std::move(field.front().own);
    }
}

/// The one that is to stay comes first.
void ClusterMember::narrow(std::vector<Contender>& field, const detail::Call& call, int samples) {
    for (const Contender& contender : field) {
        static_cast<void>(timed(call, contender.known)); // The first run touches new memory.
    }
    for (std::size_t left = field.size(); left > 1; left /= 2, samples *= 2) {
        const std::span<Contender> in_play(field.data(), left);
        std::vector<double> times_ns; // Times of one contender after the other, in turns.
        for (int sample = 0; sample < samples; ++sample) {
            for (const Contender& contender : in_play) {
                times_ns.push_back(static_cast<double>(timed(call, contender.known)));
            }
        }
        const std::vector<double> slowest_ns = of_slowest(std::move(times_ns));
        for (std::size_t turn = 0; turn < slowest_ns.size(); ++turn) {
            in_play[turn % left].times_ns.push_back(slowest_ns[turn]);
        }
        std::ranges::stable_sort(in_play, std::ranges::less{}, &Contender::score);
    }
}

/// Each time of the rank that took longest, which may be another one for each. All ranks get equal
/// times.
std::vector<double> ClusterMember::of_slowest(std::vector<double> times_ns) {
    const std::size_t count = times_ns.size();
    times_ns.resize(
        std::max(count, RehearsalPlan::times_of_round_most)); // One plan for all rounds.
    std::vector<double> slowest_ns;
    using Times = std::pair<std::vector<double>, std::vector<double>>;
    with_buffers(Times(std::move(times_ns), {}), [&](Times& times) {
        times.second.resize(times.first.size());
        pending_.run(
            detail::collective_call(rank(), size(), largest_of_all(times.first, times.second)));
        slowest_ns = std::move(times.second);
    });
    slowest_ns.resize(count);
    return slowest_ns;
}

/// How long it takes this rank, which begins with the others.
std::int64_t ClusterMember::timed(const detail::Call& call, FarKey* its) {
    pending_.run({});
    const std::int64_t began_ns = now_ns();
    pending_.run(call, its);
    return now_ns() - began_ns;
}

} // namespace corymb::cluster

// SPDX-License-Identifier: Apache-2.0
// One rank of a team over several nodes. The engine runs steps within the node, in memory that the
// ranks of the node share; steps between nodes are messages of a carrier.
#pragma once

#include "cluster/cluster_pending.hpp"
#include "cluster/rehearsal.hpp"
#include "cluster/station.hpp"
#include "team/wide_team.hpp"

#include <corymb/carrier.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace corymb::cluster {

class ClusterMember final : public detail::WideTeam {
public:
    /// `local` is the handle that will have this.
    ClusterMember(detail::Member& local, Carrier& carrier, const ClusterOptions& options);

    void run(const detail::Call& call) override;
    [[nodiscard]] detail::Operation& make(const detail::Call& call, bool is_persistent,
                                          std::shared_ptr<const void> keep) override;
    std::size_t progress() override { return pending_.progress(); }
    void complete_all() override { pending_.complete_all(); }
    void leave() noexcept override { pending_.leave(); }
    [[nodiscard]] ChosenPlan plan(const team::PlanKey& key) override;
    [[nodiscard]] std::vector<ChosenPlan> chosen_plans() const override {
        return pending_.chosen_plans();
    }
    [[nodiscard]] TeamStatistics statistics() const override;
    void set_deadline(std::int64_t deadline_ns) noexcept override;
    bool interrupt(const char* why) noexcept override { return station_.interrupt(why); }
    void abandon(const std::string& why) noexcept override { station_.abandon(why); }
    [[nodiscard]] const Carried& carried() const noexcept override { return station_.carried; }

private:
    [[nodiscard]] Rank rank() const noexcept { return station_.rank; }
    [[nodiscard]] int size() const noexcept { return station_.size(); }

    // Rehearsals (cluster_rehearsal.cpp)
    struct Contender;
    void rehearse(const detail::Call& call);
    template <class Buffers, class Action>
    void with_buffers(Buffers&& buffers, const Action& action);
    void prepare_and_compete(const detail::Call& call);
    [[nodiscard]] bool can_compare(bool all_can_pull);
    void measure_and_compete(const detail::Call& call, const detail::Call& stand_in);
    void compete(const detail::Call& call, int samples, bool is_whole,
                 std::vector<Station::Alternative> alternatives);
    void narrow(std::vector<Contender>& field, const detail::Call& call, int samples);
    [[nodiscard]] std::vector<double> of_slowest(std::vector<double> times_ns);
    [[nodiscard]] std::int64_t timed(const detail::Call& call, FarKey* its);

    Station station_;
    ClusterPending pending_;
    RehearsalPlan rehearsals_;
};

} // namespace corymb::cluster

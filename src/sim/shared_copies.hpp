// SPDX-License-Identifier: Apache-2.0
// Copies that use the same part of a machine at the same time: a memory controller, a cache, one
// buffer, a link. They get equal shares of its rate.
#pragma once

#include "plan/matching.hpp"

#include <corymb/machine.hpp>
#include <corymb/rank.hpp>

#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::sim {

using plan::StepNumber;

/// The copies under way in a replay, in the order of time. A copy is over when each part that it
/// uses has served it, and no sooner than without others. Copies have the numbers of their steps.
/// O(log copies) for a copy in each part that it uses.
class SharedCopies {
public:
    /// For a payload of so many bytes.
    SharedCopies(std::uint64_t bytes, StepNumber steps) : bytes_(bytes), left_(steps, 0) {}

    /// Ranks come in their order. Keeps references to the machine.
    void add_rank(const Machine& machine, int node, int pu);
    /// Whether some machine has a part that copies of this payload share. Without one, all times
    /// are as without this object.
    [[nodiscard]] bool matter() const noexcept { return !resources_.empty(); }

    /// A copy out of the memory of one rank to another's or its own, both on one node. By itself it
    /// is over at `end`. Times never go back from call to call, nor behind `next`.
    void start(double now, double end, StepNumber step, Rank from, Rank to, double bytes);
    /// A message of the network that arrives in the memory of a rank: it uses the controller, as
    /// copies out of that memory do, but neither the rank's buffers nor its caches.
    void land(double now, double end, StepNumber step, Rank to, double bytes);
    /// When something changes next; infinite if no copy is under way.
    [[nodiscard]] double next() const noexcept;
    /// Goes on to `next`. Adds the copies that are over then.
    void go_on(std::vector<StepNumber>& over);

private:
    struct Place {
        const Machine* machine;
        int node;
        int pu;
    };
    struct Resource {
        const Machine* machine;
        const SharedResource* shared;
        double unit_ns;
    };
    template <class Entry>
    using Earliest = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
    /// One part of one node. What each of its present copies has got since the first one came is
    /// one number, so the next to be served is the one with the least target.
    struct Part {
        const Resource* resource;
        double time = 0;
        double got = 0;            // bytes of each copy that was there all the time
        std::uint32_t version = 0; // of its entry in `due_`
        Earliest<std::pair<double, StepNumber>> present{};
    };
    /// A part has served a copy or, of no part, a copy would be over by itself.
    struct Due {
        double time;
        std::uint32_t part;
        std::uint32_t version;
        StepNumber step;
        bool operator>(const Due& other) const noexcept {
            return std::tie(time, part, step) > std::tie(other.time, other.part, other.step);
        }
    };

    void add_machine(const Machine& machine);
    void begin(double end, StepNumber step);
    /// Uses part `out_of` or, of a link, the way from there to part `into`.
    void use(std::size_t resource, int node, int out_of, int into, double now, StepNumber step,
             double bytes);
    [[nodiscard]] static double rate(const Part& part) noexcept;
    void schedule(std::uint32_t part);
    void serve(StepNumber step, std::vector<StepNumber>& over);
    void drop_outdated();

    std::uint64_t bytes_;
    std::vector<Place> places_;       // by rank
    std::vector<std::uint16_t> left_; // by step: what its copy still waits for
    std::vector<const Machine*> machines_;
    std::vector<Resource> resources_;
    std::vector<Part> parts_;
    std::unordered_map<std::uint64_t, std::uint32_t> part_of_key_;
    Earliest<Due> due_; // Invariant: the first entry is not outdated.
};

} // namespace corymb::sim

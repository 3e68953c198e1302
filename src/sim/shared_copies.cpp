// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_copies.hpp"

#include "sim/charges.hpp"
#include "sim/shared_resource.hpp"

#include <algorithm>
#include <limits>

namespace corymb::sim {

namespace {

constexpr std::uint32_t no_part = std::numeric_limits<std::uint32_t>::max();

std::size_t at(int number) {
    return static_cast<std::size_t>(number);
}

} // namespace

void SharedCopies::add_machine(const Machine& machine) {
    machines_.push_back(&machine);
    for (const SharedResource& shared : machine.shared) {
        const auto is_nearer = [&](const SharedResource& other) {
            return other.use == shared.use && other.scope == shared.scope &&
                   std::cmp_less_equal(other.from_bytes, bytes_) &&
                   other.from_bytes > shared.from_bytes;
        };
        if (shared.use != SharedUse::word && std::cmp_less_equal(shared.from_bytes, bytes_) &&
            std::ranges::none_of(machine.shared, is_nearer)) {
            resources_.push_back({&machine, &shared, unit_ns(machine)});
        }
    }
}

void SharedCopies::add_rank(const Machine& machine, int node, int pu) {
    if (std::ranges::find(machines_, &machine) == machines_.end()) {
        add_machine(machine);
    }
    places_.push_back({&machine, node, pu});
}

void SharedCopies::start(double now, double end, StepNumber step, Rank from, Rank to,
                         double bytes) {
    const Place& source = places_[at(from)];
    const Place& target = places_[at(to)];
    begin(end, step);
    for (std::size_t index = 0; index < resources_.size(); ++index) {
        const auto& [machine, shared, unit] = resources_[index];
        if (machine != source.machine) {
            continue;
        }
        const int out_of = part_number(*machine, source.pu, shared->scope);
        if (shared->use == SharedUse::copies_from) {
            use(index, source.node, out_of, 0, now, step, bytes);
            continue;
        }
        const int into = part_number(*machine, target.pu, shared->scope);
        if (into != out_of) {
            use(index, source.node, out_of, into, now, step, bytes);
        }
    }
    drop_outdated();
}

void SharedCopies::land(double now, double end, StepNumber step, Rank to, double bytes) {
    const Place& target = places_[at(to)];
    begin(end, step);
    for (std::size_t index = 0; index < resources_.size(); ++index) {
        const auto& [machine, shared, unit] = resources_[index];
        if (machine == target.machine && shared->use == SharedUse::copies_from &&
            shared->scope != Scope::pu && shared->scope != Scope::l3) {
            use(index, target.node, part_number(*machine, target.pu, shared->scope), 0, now, step,
                bytes);
        }
    }
    drop_outdated();
}

void SharedCopies::begin(double end, StepNumber step) {
    left_[step] = 1;
    due_.push({end, no_part, 0, step});
}

void SharedCopies::use(std::size_t resource, int node, int out_of, int into, double now,
                       StepNumber step, double bytes) {
    if (out_of < 0 || into < 0) {
        return; // It is not known which part that is.
    }
    // Less than 2^14 PUs and 2^20 nodes (Machine::check, Cluster::check).
    const auto key = (static_cast<std::uint64_t>(resource) << 48U) |
                     (static_cast<std::uint64_t>(node) << 28U) |
                     (static_cast<std::uint64_t>(out_of) << 14U) | static_cast<std::uint64_t>(into);
    const auto [place, is_new] =
        part_of_key_.try_emplace(key, static_cast<std::uint32_t>(parts_.size()));
    if (is_new) {
        parts_.push_back({&resources_[resource]});
    }
    Part& part = parts_[place->second];
    if (!part.present.empty()) {
        part.got += (now - part.time) * rate(part);
    }
    part.time = now;
    part.present.emplace(part.got + bytes, step);
    ++left_[step];
    schedule(place->second);
}

/// Bytes of one of the present copies in a unit of time.
double SharedCopies::rate(const Part& part) noexcept {
    const int users = static_cast<int>(part.present.size());
    return part.resource->unit_ns * shared_gbs(*part.resource->shared, users) / users;
}

/// The next copy that the part serves.
void SharedCopies::schedule(std::uint32_t number) {
    Part& part = parts_[number];
    ++part.version;
    if (!part.present.empty()) {
        const auto& [target, step] = part.present.top();
        const double wait = std::max(0.0, target - part.got) / rate(part);
        due_.push({part.time + wait, number, part.version, step});
    }
}

double SharedCopies::next() const noexcept {
    return due_.empty() ? std::numeric_limits<double>::infinity() : due_.top().time;
}

void SharedCopies::go_on(std::vector<StepNumber>& over) {
    const Due due = due_.top();
    due_.pop();
    if (due.part == no_part) {
        serve(due.step, over);
    } else {
        Part& part = parts_[due.part];
        part.time = due.time;
        part.got = part.present.top().first;
        while (!part.present.empty() && part.present.top().first <= part.got) {
            serve(part.present.top().second, over);
            part.present.pop();
        }
        schedule(due.part);
    }
    drop_outdated();
}

void SharedCopies::serve(StepNumber step, std::vector<StepNumber>& over) {
    if (--left_[step] == 0) {
        over.push_back(step);
    }
}

void SharedCopies::drop_outdated() {
    while (!due_.empty() && due_.top().part != no_part &&
           due_.top().version != parts_[due_.top().part].version) {
        due_.pop();
    }
}

} // namespace corymb::sim

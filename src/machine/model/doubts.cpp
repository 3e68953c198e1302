// SPDX-License-Identifier: Apache-2.0
#include <corymb/doubts.hpp>

#include "machine/model/shared_names.hpp"

#include <corymb/cluster.hpp>
#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb {

namespace {

std::string kind_of(const SharedResource& shared) {
    return fmt::format("{} {}", name_of(shared.use, shared_use_names),
                       name_of(shared.scope, scope_names));
}

/// What the model does not know about ranks that use something at the same time.
void doubt_what_is_shared(const Machine& machine, std::vector<std::string>& found) {
    const auto has = [&](SharedUse use) {
        return std::ranges::any_of(
            machine.shared, [use](const SharedResource& shared) { return shared.use == use; });
    };
    if (machine.size() < 2) {
        return;
    }
    const bool has_links =
        std::ranges::any_of(machine.topology.pus, [](const Pu& pu) { return pu.package > 0; });
    std::string lacking;
    const auto add = [&lacking](std::string_view text) {
        lacking += (lacking.empty() ? "" : ", ") + std::string(text);
    };
    if (!has(SharedUse::copies_from)) {
        add("memory controllers and caches");
    }
    if (has_links && !has(SharedUse::copies_between)) {
        add("links between packages");
    }
    if (!has(SharedUse::word)) {
        add("words that all change");
    }
    if (!lacking.empty()) {
        found.push_back(fmt::format("Lacks what ranks share: {}. Ranks that use them at the same "
                                    "time are not slowed down.",
                                    lacking));
    }
    std::string assumed;
    for (const SharedResource& shared : machine.shared) {
        if (shared.origin == DataOrigin::assumed) {
            assumed += (assumed.empty() ? "" : ", ") + kind_of(shared);
        }
    }
    if (!assumed.empty()) {
        found.push_back(fmt::format("Assumed of what ranks share: {}.", assumed));
    }
}

/// What the model does not know about messages longer than a line.
void doubt_long_messages(const Machine& machine, std::vector<std::string>& found) {
    if (machine.size() < 2) {
        return;
    }
    if (machine.fresh.empty()) {
        found.emplace_back("Lacks what bytes cost that a peer has just written (fresh): copies "
                           "between caches may take twice as long.");
    }
    if (machine.message.empty() && !machine.access.present()) {
        found.emplace_back("Lacks messages of several lines (message): those between mailboxes "
                           "may take less time.");
    }
}

} // namespace

std::vector<std::string> doubts(const Machine& machine) {
    const Quality& quality = machine.quality;
    std::vector<std::string> found;
    if (const std::string& text = machine.assumption; !text.empty() && !text.starts_with("none")) {
        found.push_back(fmt::format("Assumed: {}{}", text, text.ends_with('.') ? "" : "."));
    }
    if (quality.noisy) {
        found.push_back(fmt::format("Noisy: {:.0f} % of the batches were dropped.",
                                    100 * quality.dropped_batches));
    }
    if (quality.steal > 0.01) {
        found.push_back(
            fmt::format("The hypervisor took {:.0f} % of the CPU time.", 100 * quality.steal));
    }
    if (quality.unstable_topology) {
        found.emplace_back("Pairs changed their class while measuring: the vCPUs float.");
    }
    if (!quality.pinned) {
        found.emplace_back("Threads could not be bound to CPUs while measuring.");
    }
    doubt_what_is_shared(machine, found);
    doubt_long_messages(machine, found);
    found.insert(found.end(), quality.remarks.begin(), quality.remarks.end());
    const auto& disagreements = machine.topology.disagreements;
    found.insert(found.end(), disagreements.begin(), disagreements.end());
    return found;
}

std::vector<std::string> doubts(const Cluster& cluster) {
    std::vector<std::string> found;
    for (const NodeKind& kind : cluster.kinds) {
        for (std::string& text : doubts(kind.machine)) {
            if (std::find(found.begin(), found.end(), text) == found.end()) {
                found.push_back(std::move(text));
            }
        }
    }
    return found;
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
#include <corymb/doubts.hpp>

#include <corymb/cluster.hpp>
#include <corymb/machine.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace corymb {

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

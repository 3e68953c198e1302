// SPDX-License-Identifier: Apache-2.0
// What models lack, assume or doubt, as sentences for those who use their costs.
#pragma once

#include <corymb/export.hpp>

#include <string>
#include <vector>

namespace corymb {

class Cluster;
class Machine;

/// What the model lacks, assumes or doubts, one sentence each. Empty: nothing is known against it.
[[nodiscard]] CORYMB_EXPORT std::vector<std::string> doubts(const Machine& machine);
/// The doubts about all kinds of nodes, each sentence once.
[[nodiscard]] CORYMB_EXPORT std::vector<std::string> doubts(const Cluster& cluster);

} // namespace corymb

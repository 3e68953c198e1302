// SPDX-License-Identifier: Apache-2.0
// What rank 0 is told of the inside of every node.
#pragma once

#include "team/team_shared.hpp"

#include <corymb/machine.hpp>

#include <optional>

namespace corymb::cluster {

/// The model that the default plans of a team are made on, of its ranks' PUs, in their order;
/// nothing where they have no PU each, nor of one rank, beside which there is nothing to know. To
/// ask for the model takes ten milliseconds now and then. Defined by the layer that knows this
/// machine's model.
[[nodiscard]] std::optional<Machine> inside_of(const detail::TeamShared& local);

} // namespace corymb::cluster

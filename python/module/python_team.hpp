// SPDX-License-Identifier: Apache-2.0
// What corymb.Team of Python is made of.
#pragma once

#include "python_request.hpp"
#include "team_handle.hpp"

#include <chrono>
#include <memory>

namespace corymb::python {

/// The compiled part of corymb.Team; copies are the same rank.
struct NativeTeam {
    std::shared_ptr<Handle> handle;
};

using TeamClass = nb::class_<NativeTeam>;

/// Throws ValueError naming `name` for what is no number of seconds.
std::chrono::nanoseconds duration(double seconds, const char* name);

void bind_collectives(nb::module_& module, TeamClass& team);
void bind_messages(TeamClass& team);
/// Ways to become a rank: threads, a descriptor, a name.
void bind_meeting(nb::module_& module);
void bind_team(nb::module_& module);

} // namespace corymb::python

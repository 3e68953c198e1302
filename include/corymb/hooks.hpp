// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/export.hpp>

namespace corymb {

/// Sets whether others wait for work that the hooks of this process's teams keep going
/// (TeamOptions::interrupted with an `interrupted_every`). While it is set, each wait in such a
/// team stays awake and asks its hook between all looks, once the wait has lasted 2 us. A rank with
/// neighbours on its CPU yields between its looks. For libraries with one-sided operations, which
/// need the waiting rank. The setting is the whole process's, takes effect in waits that begin
/// later, and starts unset. Any thread may call it at any time; it takes some nanoseconds.
CORYMB_EXPORT void set_hooks_urgent(bool urgent) noexcept;

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The three forms of a collective.
#pragma once

#include <corymb/team.hpp>

#include <cstdint>
#include <functional>

namespace corymb::team_test {

enum class Mode : std::uint8_t { blocking, nonblocking, persistent };

/// Runs one of a call's three forms; `persistent` is started twice.
inline void in_mode(Mode mode, const std::function<void()>& blocking,
                    const std::function<Request()>& nonblocking,
                    const std::function<Request()>& persistent) {
    if (mode == Mode::blocking) {
        blocking();
    } else if (mode == Mode::nonblocking) {
        nonblocking().wait();
    } else {
        Request request = persistent();
        for (int round = 0; round < 2; ++round) {
            request.start();
            request.wait();
        }
    }
}

} // namespace corymb::team_test

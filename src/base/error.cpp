// SPDX-License-Identifier: Apache-2.0
#include <corymb/error.hpp>

namespace corymb {

const char* to_string(Errc code) noexcept {
    switch (code) {
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::unknown_name: return "unknown_name";
    case Errc::invalid_model: return "invalid_model";
    case Errc::stale_model: return "stale_model";
    case Errc::invalid_plan: return "invalid_plan";
    case Errc::io: return "io";
    case Errc::unsupported: return "unsupported";
    case Errc::timeout: return "timeout";
    case Errc::team_broken: return "team_broken";
    case Errc::interrupted: return "interrupted";
    case Errc::mismatch: return "mismatch";
    case Errc::deadlock: return "deadlock";
    case Errc::internal: return "internal";
    }
    return "unknown";
}

} // namespace corymb

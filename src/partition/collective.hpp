// SPDX-License-Identifier: Apache-2.0
// What becomes of functions of all ranks when one of them fails.
#pragma once

#include <corymb/error.hpp>
#include <corymb/team.hpp>

#include <exception>
#include <utility>

namespace corymb::partition {

/// An error that all ranks throw at one place, so that the team goes on.
class AgreedError : public Error {
public:
    using Error::Error;
};

/// Returns body(). If it fails on this rank alone, the others fail with Errc::team_broken, which
/// says why, instead of waiting for it.
template <class Body>
decltype(auto) collective(Team& team, Body&& body) {
    try {
        return std::forward<Body>(body)();
    } catch (const AgreedError&) {
        throw;
    } catch (const std::exception& error) {
        team.abandon(error.what()); // The first failure of a team counts.
        throw;
    }
}

} // namespace corymb::partition

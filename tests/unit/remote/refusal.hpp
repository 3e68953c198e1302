// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/error.hpp>

#include <optional>

namespace corymb {

/// The code of the Error that the call throws; none if it throws no Error.
template <class F>
std::optional<Errc> refusal(const F& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

} // namespace corymb

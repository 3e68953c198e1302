// SPDX-License-Identifier: Apache-2.0
// Derives a group's shape from its options.
#pragma once

#include "multicast/shape.hpp"

#include <corymb/multicast.hpp>

#include <string>

namespace corymb::multicast {

struct Resolved {
    MulticastOptions options; ///< The options with the choice of `best` filled in.
    std::string reason;       ///< The topology, and the reason for it.
};

/// Throws Errc::invalid_argument for options that do not fit.
[[nodiscard]] Resolved resolved(int size, const MulticastOptions& options);
/// How the ranks are numbered. Throws as above.
[[nodiscard]] Preorder order_of(int size, const MulticastOptions& options);
/// `gather` needs a plan in the options. Throws as above.
[[nodiscard]] Shape shape_of(const Preorder& order, const MulticastOptions& options);

} // namespace corymb::multicast

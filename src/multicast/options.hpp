// SPDX-License-Identifier: Apache-2.0
// From the options of a group to its shape.
#pragma once

#include "multicast/shape.hpp"

#include <corymb/multicast.hpp>

#include <string>

namespace corymb::multicast {

struct Resolved {
    MulticastOptions options; ///< With the choice of `best` filled in.
    std::string reason;       ///< Which topology that is, and why.
};

/// Throws Errc::invalid_argument for options that do not fit.
[[nodiscard]] Resolved resolved(int size, const MulticastOptions& options);
/// How the ranks are numbered. Throws as above.
[[nodiscard]] Preorder order_of(int size, const MulticastOptions& options);
[[nodiscard]] Shape shape_of(const Preorder& order, const MulticastOptions& options);

} // namespace corymb::multicast

// SPDX-License-Identifier: Apache-2.0
// From the arguments of mpi4py's methods to what the library calls a wish.
#pragma once

#include "team_handle.hpp"

#include <memory>
#include <optional>

namespace corymb::python {

/// The arguments of a collective; those that it does not have are None or 0.
struct Arguments {
    Collective op = Collective::barrier;
    nb::handle send;
    nb::handle recv;
    std::optional<Operator> with; ///< Of reductions.
    Rank root = 0;
};

struct Prepared {
    detail::Wish wish;
    std::unique_ptr<Keep> keep;
};

/// Reads the buffers that this rank uses, and checks that they fit each other. Throws as Operand,
/// and Errc::invalid_argument. Operations start after `keep->start()`.
[[nodiscard]] Prepared prepare(const Team& team, const Arguments& arguments);

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// From the arguments of mpi4py's methods to what the library calls a operation.
#pragma once

#include "team_handle.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace corymb::python {

/// One of the library's or one of the caller's.
using AnyOperator = std::variant<Operator, const UserOperator*>;

/// The arguments of a collective; those that it does not have are None or 0.
struct Arguments {
    Collective op = Collective::barrier;
    nb::handle send;
    nb::handle recv;
    std::optional<AnyOperator> with; ///< Of reductions.
    Rank root = 0;
    bool is_vector = false;     ///< Parts may differ in length.
    nb::handle counts{};        ///< Of the parts of a reduce_scatter.
    std::uint32_t contents = 0; ///< What ranks compare of a part of a call of objects; 0: elements.
};

struct Prepared {
    CollectiveOperation operation;
    std::unique_ptr<Keep> keep;
};

/// Reads the buffers that this rank uses, and checks that they fit each other. Throws as Operand,
/// and Errc::invalid_argument. Operations start after `keep->start()`.
[[nodiscard]] Prepared prepare(const Team& team, const Arguments& arguments);
/// The same for `is_vector`.
[[nodiscard]] Prepared prepare_vector(const Team& team, const Arguments& arguments);

/// The blocking method of a collective, for errors.
[[nodiscard]] std::string method_of(Collective op, bool is_vector);

/// What ranks compare of a call that only moves the elements of a buffer.
[[nodiscard]] std::uint32_t contents_of(const Arguments& arguments,
                                        const Operand& operand) noexcept;

/// The operator for the elements of a buffer; throws Errc::invalid_argument when there is none.
/// `keep` holds what an operator of the caller's needs.
[[nodiscard]] Reduction reduction_for(const Arguments& arguments, const Operand& operand,
                                      Keep& keep);

} // namespace corymb::python

// SPDX-License-Identifier: Apache-2.0
// MPI's datatypes and operators as corymb knows them.
#pragma once

#include "below/host.hpp"

#include <corymb.h>

#include <cstddef>
#include <optional>

namespace corymb::mpi {

/// How the elements of a datatype lie in memory.
struct Layout {
    std::size_t size = 0;      ///< Bytes of data of an element.
    std::ptrdiff_t extent = 0; ///< From one element to the next.
    bool is_dense = false;     ///< Without gaps, in the order of memory: just bytes.
    bool is_predefined = false;
    MPI_Datatype type{};
    /// Begin and end of an element's data; set by whole_layout_of only.
    std::ptrdiff_t begin = 0;
    std::ptrdiff_t end = 0;
};

/// The layout of any datatype that is not null. Thread-safe once MPI is initialised.
[[nodiscard]] Layout layout_of(MPI_Datatype type);
/// The layout with `begin` and `end`.
[[nodiscard]] Layout whole_layout_of(MPI_Datatype type);

/// Whether operations may use the type: it is committed, and not null. Errors of the program are
/// left to MPI.
[[nodiscard]] bool is_usable(MPI_Datatype type) noexcept;

/// How far the result of a reduction depends on the order of combining. corymb and the MPI may take
/// turns only if it does not depend on it: equal calls have equal answers.
enum class Answer : unsigned char {
    one,        ///< Always the same bits: integers, logicals, bytes.
    one_of_two, ///< Equal values of two operands: sums and real products, which round once.
    several,    ///< NaN, signed zeros or infinities may come out differently, or it is not known.
};
[[nodiscard]] constexpr bool is_one_answer(Answer answer, int ranks) noexcept {
    return answer == Answer::one || (answer == Answer::one_of_two && ranks == 2);
}

/// A type and an operator that a kernel combines.
struct Kernel {
    corymb_type type = CORYMB_NO_TYPE;
    corymb_op op = CORYMB_NO_OP;
    std::size_t bytes = 0; ///< From one element to the next.
    Answer answer = Answer::several;
    /// Layout of a type whose elements have gaps, which the kernel writes, too; otherwise null.
    const Layout* gapped = nullptr;
};

/// The kernel of a type and an operator that are both predefined and, by the standard, meant for
/// each other. Null: the call is left to MPI. The standard wants one type and operator on all
/// ranks, so all decide alike. Valid until the thread asks again.
[[nodiscard]] const Kernel* kernel_of(MPI_Datatype type, MPI_Op op);

/// Whether the standard lets the operator combine elements of this type. The program's own
/// operators may combine all types, the predefined ones the types that the standard names. Errors
/// are left to the MPI.
[[nodiscard]] bool is_allowed(MPI_Datatype type, MPI_Op op);

/// Nothing: the operator is one of the program's.
[[nodiscard]] std::optional<Answer> answer_of(MPI_Datatype type, MPI_Op op);

} // namespace corymb::mpi

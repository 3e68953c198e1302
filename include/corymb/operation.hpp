// SPDX-License-Identifier: Apache-2.0
// A collective operation as a value.
#pragma once

#include <corymb/operators.hpp>
#include <corymb/plan.hpp>
#include <corymb/rank.hpp>

#include <cstddef>
#include <limits>
#include <span>

namespace corymb {

/// The parts of a buffer that holds one for every rank, in elements.
struct Parts {
    /// Length of each rank's part; may be 0.
    std::span<const std::size_t> counts;
    /// Begin of each part; empty: each begins where the one before it ends. Parts of a buffer that
    /// is written may have gaps and any order, but not overlap.
    std::span<const std::size_t> displacements{};
};

/// A collective operation as a value, for programs that learn the operation, the operator or the
/// elements' type at run time: interpreters, bindings of other languages. Team::run, Team::start
/// and Team::prepare take it, and Team's functions that are named after operations make one.
///
/// It refers to the buffers and lists, and owns nothing. Ranks give values that differ in buffers
/// and displacements only.
struct CollectiveOperation {
    Collective op = Collective::barrier;
    Rank root = 0; ///< 0 where the operation has none.
    /// Buffers as in the operation's own function. A broadcast has `output` only. A buffer that
    /// this rank does not use may be null.
    const void* input = nullptr;
    void* output = nullptr;
    /// Elements of one part. With `is_vector`, of the buffer that has but one part.
    std::size_t count = 0;
    /// The operator for these elements: reduction_of. The elements alone where nothing is combined:
    /// move_of.
    Reduction reduction{};
    /// Parts may differ in length. A buffer of several parts has those of `input_parts` or
    /// `output_parts`, where this rank uses it.
    bool is_vector = false;
    Parts input_parts{};
    Parts output_parts{};
    /// Elements that the buffers of a vector operation have, as far as that is known: no part may
    /// lie beyond.
    std::size_t input_size = std::numeric_limits<std::size_t>::max();
    std::size_t output_size = std::numeric_limits<std::size_t>::max();
    /// Set by the library only: an allreduce that stands for the caller's reduce_scatter.
    bool is_scatter = false;
};

} // namespace corymb

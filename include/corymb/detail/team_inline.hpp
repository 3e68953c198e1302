// SPDX-License-Identifier: Apache-2.0
// Typed front of Team's operations; the work is done on bytes in the library.
#pragma once

#include <corymb/team.hpp>

namespace corymb {

template <class T>
void Team::broadcast(std::span<T> data, Rank root) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    run_broadcast(data.data(), data.size_bytes(), root);
}

template <class T>
T Team::broadcast(T value, Rank root) {
    static_assert(std::is_trivially_copyable_v<T>);
    run_broadcast(&value, sizeof(T), root);
    return value;
}

template <class T, class Op>
void Team::reduce(std::span<const T> input, std::span<T> output, Op /*op*/, Rank root) {
    if (rank() == root && output.size() != input.size()) {
        throw Error(Errc::invalid_argument,
                    "reduce: the root's output has " + std::to_string(output.size()) +
                        " elements, its input " + std::to_string(input.size()));
    }
    run_reduction(Collective::reduce, input.data(), output.data(), input.size(),
                  reduction_of<T, Op>(), root);
}

template <class T, class Op>
void Team::allreduce(std::span<const T> input, std::span<T> output, Op /*op*/) {
    if (output.size() != input.size()) {
        throw Error(Errc::invalid_argument, "allreduce: output has " +
                                                std::to_string(output.size()) +
                                                " elements, input " + std::to_string(input.size()));
    }
    run_reduction(Collective::allreduce, input.data(), output.data(), input.size(),
                  reduction_of<T, Op>(), 0);
}

template <class T, class Op>
T Team::allreduce(T value, Op /*op*/) {
    T result;
    run_reduction(Collective::allreduce, &value, &result, 1, reduction_of<T, Op>(), 0);
    return result;
}

} // namespace corymb

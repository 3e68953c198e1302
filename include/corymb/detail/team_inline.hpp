// SPDX-License-Identifier: Apache-2.0
// Typed front of Team's operations; the work is done on bytes in the library.
#pragma once

#include <corymb/team.hpp>

namespace corymb {

namespace detail {

template <class T>
Wish broadcast_wish(std::span<T> data, Rank root) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    Wish wish{Collective::broadcast, root, nullptr, data.data(), data.size(), {}};
    wish.reduction.element_bytes = sizeof(T);
    wish.reduction.identity = move_identity<T>();
    return wish;
}

} // namespace detail

template <class T>
void Team::broadcast(std::span<T> data, Rank root) {
    run(detail::broadcast_wish(data, root));
}

template <class T>
T Team::broadcast(T value, Rank root) {
    run(detail::broadcast_wish(std::span<T>(&value, 1), root));
    return value;
}

template <class T, class Op>
detail::Wish Team::reduction_wish(Collective op, std::span<const T> input, std::span<T> output,
                                  const Op& with, Rank root) const {
    if ((op == Collective::allreduce || rank() == root) && output.size() != input.size()) {
        throw Error(Errc::invalid_argument,
                    std::string(to_string(op)) + ": the output has " +
                        std::to_string(output.size()) + " elements, the input " +
                        std::to_string(input.size()) + "; they must be as many");
    }
    return {op, root, input.data(), output.data(), input.size(), reduction_of<T>(with)};
}

template <class T, class Op>
void Team::reduce(std::span<const T> input, std::span<T> output, Op op, Rank root) {
    run(reduction_wish(Collective::reduce, input, output, op, root));
}

template <class T, class Op>
void Team::allreduce(std::span<const T> input, std::span<T> output, Op op) {
    run(reduction_wish(Collective::allreduce, input, output, op, 0));
}

template <class T, class Op>
T Team::allreduce(T value, Op op) {
    T result;
    run({Collective::allreduce, 0, &value, &result, 1, reduction_of<T>(op)});
    return result;
}

} // namespace corymb

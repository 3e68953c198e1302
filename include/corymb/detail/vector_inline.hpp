// SPDX-License-Identifier: Apache-2.0
// Typed front of the vector operations, whose parts differ in length.
#pragma once

#include <corymb/team.hpp>

#include <memory>
#include <utility>

namespace corymb {

namespace detail {

/// Of an operation that moves data only.
template <class T>
Wish vector_wish(Collective op, std::span<const T> input, std::span<T> output, Rank root) {
    static_assert(std::is_trivially_copyable_v<T>);
    Wish wish{op, root, input.data(), output.data(), 0, {}, true};
    wish.reduction.element_bytes = sizeof(T);
    wish.reduction.identity = move_identity<T>();
    wish.input_size = input.size();
    wish.output_size = output.size();
    return wish;
}

/// The input is one part.
template <class T>
Wish gatherv_wish(Collective op, std::span<const T> input, std::span<T> output, Parts parts,
                  Rank root) {
    Wish wish = vector_wish(op, input, output, root);
    wish.count = input.size();
    wish.output_parts = parts;
    return wish;
}

/// The output is one part.
template <class T>
Wish scatterv_wish(Collective op, std::span<const T> input, Parts parts, std::span<T> output,
                   Rank root) {
    Wish wish = vector_wish(op, input, output, root);
    wish.count = output.size();
    wish.input_parts = parts;
    return wish;
}

template <class T>
Wish alltoallv_wish(std::span<const T> input, Parts input_parts, std::span<T> output,
                    Parts output_parts) {
    Wish wish = vector_wish(Collective::alltoall, input, output, Rank{0});
    wish.input_parts = input_parts;
    wish.output_parts = output_parts;
    return wish;
}

template <class T, class Op>
Wish reduce_scatterv_wish(std::span<const T> input, Parts parts, std::span<T> output,
                          const Op& with) {
    Wish wish = scatterv_wish(Collective::reduce_scatter, input, parts, output, Rank{0});
    wish.reduction = reduction_of<T>(with);
    return wish;
}

} // namespace detail

template <class T>
void Team::gatherv(std::span<const T> input, std::span<T> output, Parts parts, Rank root) {
    run(detail::gatherv_wish(Collective::gather, input, output, parts, root));
}

template <class T>
Request Team::igatherv(std::span<const T> input, std::span<T> output, Parts parts, Rank root) {
    return start(Mode::nonblocking,
                 detail::gatherv_wish(Collective::gather, input, output, parts, root));
}

template <class T>
Request Team::gatherv_init(std::span<const T> input, std::span<T> output, Parts parts, Rank root) {
    return start(Mode::persistent,
                 detail::gatherv_wish(Collective::gather, input, output, parts, root));
}

template <class T>
void Team::scatterv(std::span<const T> input, Parts parts, std::span<T> output, Rank root) {
    run(detail::scatterv_wish(Collective::scatter, input, parts, output, root));
}

template <class T>
Request Team::iscatterv(std::span<const T> input, Parts parts, std::span<T> output, Rank root) {
    return start(Mode::nonblocking,
                 detail::scatterv_wish(Collective::scatter, input, parts, output, root));
}

template <class T>
Request Team::scatterv_init(std::span<const T> input, Parts parts, std::span<T> output, Rank root) {
    return start(Mode::persistent,
                 detail::scatterv_wish(Collective::scatter, input, parts, output, root));
}

template <class T>
void Team::allgatherv(std::span<const T> input, std::span<T> output, Parts parts) {
    run(detail::gatherv_wish(Collective::allgather, input, output, parts, Rank{0}));
}

template <class T>
Request Team::iallgatherv(std::span<const T> input, std::span<T> output, Parts parts) {
    return start(Mode::nonblocking,
                 detail::gatherv_wish(Collective::allgather, input, output, parts, Rank{0}));
}

template <class T>
Request Team::allgatherv_init(std::span<const T> input, std::span<T> output, Parts parts) {
    return start(Mode::persistent,
                 detail::gatherv_wish(Collective::allgather, input, output, parts, Rank{0}));
}

template <class T>
void Team::alltoallv(std::span<const T> input, Parts input_parts, std::span<T> output,
                     Parts output_parts) {
    run(detail::alltoallv_wish(input, input_parts, output, output_parts));
}

template <class T>
Request Team::ialltoallv(std::span<const T> input, Parts input_parts, std::span<T> output,
                         Parts output_parts) {
    return start(Mode::nonblocking,
                 detail::alltoallv_wish(input, input_parts, output, output_parts));
}

template <class T>
Request Team::alltoallv_init(std::span<const T> input, Parts input_parts, std::span<T> output,
                             Parts output_parts) {
    return start(Mode::persistent,
                 detail::alltoallv_wish(input, input_parts, output, output_parts));
}

template <class T, class Op>
void Team::reduce_scatterv(std::span<const T> input, Parts parts, std::span<T> output, Op op) {
    run(detail::reduce_scatterv_wish(input, parts, output, op));
}

template <class T, class Op>
Request Team::start_reduce_scatterv(Mode mode, std::span<const T> input, Parts parts,
                                    std::span<T> output, const Op& with) {
    if constexpr (detail::is_stateless<Op>) {
        return start(mode, detail::reduce_scatterv_wish(input, parts, output, with));
    } else { // The operation outlives the caller's operator.
        auto kept = std::make_shared<const Op>(with);
        const detail::Wish wish = detail::reduce_scatterv_wish(input, parts, output, *kept);
        return start(mode, wish, std::move(kept));
    }
}

template <class T, class Op>
Request Team::ireduce_scatterv(std::span<const T> input, Parts parts, std::span<T> output, Op op) {
    return start_reduce_scatterv(Mode::nonblocking, input, parts, output, op);
}

template <class T, class Op>
Request Team::reduce_scatterv_init(std::span<const T> input, Parts parts, std::span<T> output,
                                   Op op) {
    return start_reduce_scatterv(Mode::persistent, input, parts, output, op);
}

} // namespace corymb

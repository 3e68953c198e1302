// SPDX-License-Identifier: Apache-2.0
// Typed front of the vector operations.
#pragma once

#include <corymb/team.hpp>

#include <memory>
#include <utility>

namespace corymb {

namespace detail {

/// The wish of an operation that moves data only.
template <class T>
Wish vector_wish(Collective op, const Buffers<T>& of, Rank root) {
    Wish wish{op, root, of.in.data(), of.out.data(), 0, {}, true};
    wish.reduction.element_bytes = sizeof(T);
    wish.reduction.identity = move_identity<T>();
    wish.input_size = of.in.size();
    wish.output_size = of.out.size();
    return wish;
}

/// The input is one part.
template <class T>
Wish gatherv_wish(Collective op, const Buffers<T>& of, Parts parts, Rank root) {
    Wish wish = vector_wish(op, of, root);
    wish.count = of.in.size();
    wish.output_parts = parts;
    return wish;
}

/// The output is one part.
template <class T>
Wish scatterv_wish(Collective op, const Buffers<T>& of, Parts parts, Rank root) {
    Wish wish = vector_wish(op, of, root);
    wish.count = of.out.size();
    wish.input_parts = parts;
    return wish;
}

template <class T>
Wish alltoallv_wish(const Buffers<T>& of, Parts input_parts, Parts output_parts) {
    Wish wish = vector_wish(Collective::alltoall, of, Rank{0});
    wish.input_parts = input_parts;
    wish.output_parts = output_parts;
    return wish;
}

template <class T, class Op>
Wish reduce_scatterv_wish(const Buffers<T>& of, Parts parts, const Op& with) {
    Wish wish = scatterv_wish(Collective::reduce_scatter, of, parts, Rank{0});
    wish.reduction = reduction_of<T>(with);
    return wish;
}

} // namespace detail

template <class T, Elements In, Elements Out>
void Team::gatherv(In&& input, Out&& output, Parts parts, Rank root) {
    run(detail::gatherv_wish(Collective::gather, detail::buffers<T, In, Out>(input, output), parts,
                             root));
}

template <class T, Elements In, Elements Out>
Request Team::igatherv(In&& input, Out&& output, Parts parts, Rank root) {
    return start(Mode::nonblocking,
                 detail::gatherv_wish(Collective::gather,
                                      detail::kept_buffers<T, In, Out>(input, output), parts,
                                      root));
}

template <class T, Elements In, Elements Out>
Request Team::gatherv_init(In&& input, Out&& output, Parts parts, Rank root) {
    return start(Mode::persistent,
                 detail::gatherv_wish(Collective::gather,
                                      detail::kept_buffers<T, In, Out>(input, output), parts,
                                      root));
}

template <class T, Elements Out, Elements In>
void Team::scatterv(In&& input, Parts parts, Out&& output, Rank root) {
    run(detail::scatterv_wish(Collective::scatter, detail::buffers<T, In, Out>(input, output),
                              parts, root));
}

template <class T, Elements Out, Elements In>
Request Team::iscatterv(In&& input, Parts parts, Out&& output, Rank root) {
    return start(Mode::nonblocking,
                 detail::scatterv_wish(Collective::scatter,
                                       detail::kept_buffers<T, In, Out>(input, output), parts,
                                       root));
}

template <class T, Elements Out, Elements In>
Request Team::scatterv_init(In&& input, Parts parts, Out&& output, Rank root) {
    return start(Mode::persistent,
                 detail::scatterv_wish(Collective::scatter,
                                       detail::kept_buffers<T, In, Out>(input, output), parts,
                                       root));
}

template <class T, Elements In, Elements Out>
void Team::allgatherv(In&& input, Out&& output, Parts parts) {
    run(detail::gatherv_wish(Collective::allgather, detail::buffers<T, In, Out>(input, output),
                             parts, Rank{0}));
}

template <class T, Elements In, Elements Out>
Request Team::iallgatherv(In&& input, Out&& output, Parts parts) {
    return start(Mode::nonblocking,
                 detail::gatherv_wish(Collective::allgather,
                                      detail::kept_buffers<T, In, Out>(input, output), parts,
                                      Rank{0}));
}

template <class T, Elements In, Elements Out>
Request Team::allgatherv_init(In&& input, Out&& output, Parts parts) {
    return start(Mode::persistent,
                 detail::gatherv_wish(Collective::allgather,
                                      detail::kept_buffers<T, In, Out>(input, output), parts,
                                      Rank{0}));
}

template <class T, Elements In, Elements Out>
void Team::alltoallv(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
    run(detail::alltoallv_wish(detail::buffers<T, In, Out>(input, output), input_parts,
                               output_parts));
}

template <class T, Elements In, Elements Out>
Request Team::ialltoallv(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
    return start(Mode::nonblocking,
                 detail::alltoallv_wish(detail::kept_buffers<T, In, Out>(input, output),
                                        input_parts, output_parts));
}

template <class T, Elements In, Elements Out>
Request Team::alltoallv_init(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
    return start(Mode::persistent,
                 detail::alltoallv_wish(detail::kept_buffers<T, In, Out>(input, output),
                                        input_parts, output_parts));
}

template <class T, Elements In, Elements Out, class Op>
void Team::reduce_scatterv(In&& input, Parts parts, Out&& output, Op op) {
    run(detail::reduce_scatterv_wish(detail::buffers<T, In, Out>(input, output), parts, op));
}

template <class T, class Op>
Request Team::start_reduce_scatterv(Mode mode, const detail::Buffers<T>& of, Parts parts,
                                    const Op& with) {
    if constexpr (detail::is_stateless<Op>) {
        return start(mode, detail::reduce_scatterv_wish(of, parts, with));
    } else { // The operation outlives the caller's operator.
        auto kept = std::make_shared<const Op>(with);
        const detail::Wish wish = detail::reduce_scatterv_wish(of, parts, *kept);
        return start(mode, wish, std::move(kept));
    }
}

template <class T, Elements In, Elements Out, class Op>
Request Team::ireduce_scatterv(In&& input, Parts parts, Out&& output, Op op) {
    return start_reduce_scatterv(Mode::nonblocking, detail::kept_buffers<T, In, Out>(input, output),
                                 parts, op);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::reduce_scatterv_init(In&& input, Parts parts, Out&& output, Op op) {
    return start_reduce_scatterv(Mode::persistent, detail::kept_buffers<T, In, Out>(input, output),
                                 parts, op);
}

} // namespace corymb

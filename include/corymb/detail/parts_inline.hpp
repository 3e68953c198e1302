// SPDX-License-Identifier: Apache-2.0
// Typed front of the collectives in which every rank has a part, and of scans: blocking,
// nonblocking (i...) and persistent (..._init).
#pragma once

#include <corymb/team.hpp>

namespace corymb {

namespace detail {

/// For rank `rank` of a team of `size`. Throws Errc::invalid_argument where the two do not fit.
template <class T>
Wish parts_wish(Collective op, const Buffers<T>& of, Rank root, Rank rank, int size) {
    const auto& [input, output] = of;
    const bool many_in =
        op == Collective::scatter || op == Collective::alltoall || op == Collective::reduce_scatter;
    const bool many_out =
        op == Collective::gather || op == Collective::allgather || op == Collective::alltoall;
    const bool here = rank == root || (op != Collective::gather && op != Collective::scatter);
    const bool is_empty = size == 0; // The handle is: it is refused where the operation runs.
    const auto ranks = static_cast<std::size_t>(is_empty ? 1 : size);
    const std::size_t whole = many_in ? input.size() : output.size();
    std::size_t part = many_in ? output.size() : input.size();
    if (op == Collective::alltoall) {
        part = input.size() == output.size() ? whole / ranks : whole + 1;
    }
    const bool fits = (many_in || many_out) ? whole % ranks == 0 && whole / ranks == part
                                            : input.size() == output.size();
    if (here && !fits && !is_empty) {
        throw Error(Errc::invalid_argument,
                    std::string(to_string(op)) + ": input of " + std::to_string(input.size()) +
                        " and output of " + std::to_string(output.size()) +
                        " elements do not fit each other in a team of " + std::to_string(ranks));
    }
    Wish wish{op, root, input.data(), output.data(), part, {}};
    wish.reduction.element_bytes = sizeof(T);
    wish.reduction.identity = move_identity<T>();
    return wish;
}

} // namespace detail

template <class T>
detail::Wish Team::parts_wish(Collective op, const detail::Buffers<T>& of, Rank root) const {
    return detail::parts_wish(op, of, root, rank(), size());
}

template <class T, class Op>
detail::Wish Team::parts_wish(Collective op, const detail::Buffers<T>& of, const Op& with) const {
    detail::Wish wish = parts_wish(op, of, Rank{0});
    wish.reduction = reduction_of<T>(with);
    return wish;
}

template <class T, Elements In, Elements Out>
void Team::gather(In&& input, Out&& output, Rank root) {
    run(parts_wish(Collective::gather, detail::buffers<T, In, Out>(input, output), root));
}

template <class T, Elements In, Elements Out>
Request Team::igather(In&& input, Out&& output, Rank root) {
    return start(
        Mode::nonblocking,
        parts_wish(Collective::gather, detail::kept_buffers<T, In, Out>(input, output), root));
}

template <class T, Elements In, Elements Out>
Request Team::gather_init(In&& input, Out&& output, Rank root) {
    return start(
        Mode::persistent,
        parts_wish(Collective::gather, detail::kept_buffers<T, In, Out>(input, output), root));
}

template <class T, Elements Out, Elements In>
void Team::scatter(In&& input, Out&& output, Rank root) {
    run(parts_wish(Collective::scatter, detail::buffers<T, In, Out>(input, output), root));
}

template <class T, Elements Out, Elements In>
Request Team::iscatter(In&& input, Out&& output, Rank root) {
    return start(
        Mode::nonblocking,
        parts_wish(Collective::scatter, detail::kept_buffers<T, In, Out>(input, output), root));
}

template <class T, Elements Out, Elements In>
Request Team::scatter_init(In&& input, Out&& output, Rank root) {
    return start(
        Mode::persistent,
        parts_wish(Collective::scatter, detail::kept_buffers<T, In, Out>(input, output), root));
}

template <class T, Elements In, Elements Out>
void Team::allgather(In&& input, Out&& output) {
    run(parts_wish(Collective::allgather, detail::buffers<T, In, Out>(input, output), Rank{0}));
}

template <class T, Elements In, Elements Out>
Request Team::iallgather(In&& input, Out&& output) {
    return start(Mode::nonblocking,
                 parts_wish(Collective::allgather, detail::kept_buffers<T, In, Out>(input, output),
                            Rank{0}));
}

template <class T, Elements In, Elements Out>
Request Team::allgather_init(In&& input, Out&& output) {
    return start(Mode::persistent,
                 parts_wish(Collective::allgather, detail::kept_buffers<T, In, Out>(input, output),
                            Rank{0}));
}

template <class T, Elements In, Elements Out>
void Team::alltoall(In&& input, Out&& output) {
    run(parts_wish(Collective::alltoall, detail::buffers<T, In, Out>(input, output), Rank{0}));
}

template <class T, Elements In, Elements Out>
Request Team::ialltoall(In&& input, Out&& output) {
    return start(
        Mode::nonblocking,
        parts_wish(Collective::alltoall, detail::kept_buffers<T, In, Out>(input, output), Rank{0}));
}

template <class T, Elements In, Elements Out>
Request Team::alltoall_init(In&& input, Out&& output) {
    return start(
        Mode::persistent,
        parts_wish(Collective::alltoall, detail::kept_buffers<T, In, Out>(input, output), Rank{0}));
}

template <class T, Elements In, Elements Out, class Op>
void Team::reduce_scatter(In&& input, Out&& output, Op op) {
    run(parts_wish(Collective::reduce_scatter, detail::buffers<T, In, Out>(input, output), op));
}

template <class T, Elements In, Elements Out, class Op>
Request Team::ireduce_scatter(In&& input, Out&& output, Op op) {
    return start_kept(Mode::nonblocking, Collective::reduce_scatter,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::reduce_scatter_init(In&& input, Out&& output, Op op) {
    return start_kept(Mode::persistent, Collective::reduce_scatter,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements In, Elements Out, class Op>
void Team::scan(In&& input, Out&& output, Op op) {
    run(parts_wish(Collective::scan, detail::buffers<T, In, Out>(input, output), op));
}

template <class T, Elements In, Elements Out, class Op>
Request Team::iscan(In&& input, Out&& output, Op op) {
    return start_kept(Mode::nonblocking, Collective::scan,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::scan_init(In&& input, Out&& output, Op op) {
    return start_kept(Mode::persistent, Collective::scan,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements In, Elements Out, class Op>
void Team::exscan(In&& input, Out&& output, Op op) {
    run(parts_wish(Collective::exscan, detail::buffers<T, In, Out>(input, output), op));
}

template <class T, Elements In, Elements Out, class Op>
Request Team::iexscan(In&& input, Out&& output, Op op) {
    return start_kept(Mode::nonblocking, Collective::exscan,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::exscan_init(In&& input, Out&& output, Op op) {
    return start_kept(Mode::persistent, Collective::exscan,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Typed front of the collectives in which every rank has a part, and of scans: blocking,
// nonblocking (i...) and persistent (..._init).
#pragma once

#include <corymb/team.hpp>

namespace corymb {

namespace detail {

/// For rank `rank` of a team of `size`. Throws Errc::invalid_argument where the two do not fit.
template <class T>
Wish parts_wish(Collective op, std::span<const T> input, std::span<T> output, Rank root, Rank rank,
                int size) {
    static_assert(std::is_trivially_copyable_v<T>);
    const bool many_in =
        op == Collective::scatter || op == Collective::alltoall || op == Collective::reduce_scatter;
    const bool many_out =
        op == Collective::gather || op == Collective::allgather || op == Collective::alltoall;
    const bool here = rank == root || (op != Collective::gather && op != Collective::scatter);
    const auto ranks = static_cast<std::size_t>(size);
    const std::size_t whole = many_in ? input.size() : output.size();
    std::size_t part = many_in ? output.size() : input.size();
    if (op == Collective::alltoall) {
        part = input.size() == output.size() ? whole / ranks : whole + 1;
    }
    const bool fits = (many_in || many_out) ? whole % ranks == 0 && whole / ranks == part
                                            : input.size() == output.size();
    if (here && !fits) {
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
detail::Wish Team::parts_wish(Collective op, std::span<const T> input, std::span<T> output,
                              Rank root) const {
    return detail::parts_wish(op, input, output, root, rank(), member_ ? size() : 1);
}

template <class T, class Op>
detail::Wish Team::parts_wish(Collective op, std::span<const T> input, std::span<T> output,
                              const Op& with) const {
    detail::Wish wish = parts_wish(op, input, output, Rank{0});
    wish.reduction = reduction_of<T>(with);
    return wish;
}

template <class T>
void Team::gather(std::span<const T> input, std::span<T> output, Rank root) {
    run(parts_wish(Collective::gather, input, output, root));
}

template <class T>
Request Team::igather(std::span<const T> input, std::span<T> output, Rank root) {
    return start(Mode::nonblocking, parts_wish(Collective::gather, input, output, root));
}

template <class T>
Request Team::gather_init(std::span<const T> input, std::span<T> output, Rank root) {
    return start(Mode::persistent, parts_wish(Collective::gather, input, output, root));
}

template <class T>
void Team::scatter(std::span<const T> input, std::span<T> output, Rank root) {
    run(parts_wish(Collective::scatter, input, output, root));
}

template <class T>
Request Team::iscatter(std::span<const T> input, std::span<T> output, Rank root) {
    return start(Mode::nonblocking, parts_wish(Collective::scatter, input, output, root));
}

template <class T>
Request Team::scatter_init(std::span<const T> input, std::span<T> output, Rank root) {
    return start(Mode::persistent, parts_wish(Collective::scatter, input, output, root));
}

template <class T>
void Team::allgather(std::span<const T> input, std::span<T> output) {
    run(parts_wish(Collective::allgather, input, output, Rank{0}));
}

template <class T>
Request Team::iallgather(std::span<const T> input, std::span<T> output) {
    return start(Mode::nonblocking, parts_wish(Collective::allgather, input, output, Rank{0}));
}

template <class T>
Request Team::allgather_init(std::span<const T> input, std::span<T> output) {
    return start(Mode::persistent, parts_wish(Collective::allgather, input, output, Rank{0}));
}

template <class T>
void Team::alltoall(std::span<const T> input, std::span<T> output) {
    run(parts_wish(Collective::alltoall, input, output, Rank{0}));
}

template <class T>
Request Team::ialltoall(std::span<const T> input, std::span<T> output) {
    return start(Mode::nonblocking, parts_wish(Collective::alltoall, input, output, Rank{0}));
}

template <class T>
Request Team::alltoall_init(std::span<const T> input, std::span<T> output) {
    return start(Mode::persistent, parts_wish(Collective::alltoall, input, output, Rank{0}));
}

template <class T, class Op>
void Team::reduce_scatter(std::span<const T> input, std::span<T> output, Op op) {
    run(parts_wish(Collective::reduce_scatter, input, output, op));
}

template <class T, class Op>
Request Team::ireduce_scatter(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::nonblocking, Collective::reduce_scatter, input, output, op, 0);
}

template <class T, class Op>
Request Team::reduce_scatter_init(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::persistent, Collective::reduce_scatter, input, output, op, 0);
}

template <class T, class Op>
void Team::scan(std::span<const T> input, std::span<T> output, Op op) {
    run(parts_wish(Collective::scan, input, output, op));
}

template <class T, class Op>
Request Team::iscan(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::nonblocking, Collective::scan, input, output, op, 0);
}

template <class T, class Op>
Request Team::scan_init(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::persistent, Collective::scan, input, output, op, 0);
}

template <class T, class Op>
void Team::exscan(std::span<const T> input, std::span<T> output, Op op) {
    run(parts_wish(Collective::exscan, input, output, op));
}

template <class T, class Op>
Request Team::iexscan(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::nonblocking, Collective::exscan, input, output, op, 0);
}

template <class T, class Op>
Request Team::exscan_init(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::persistent, Collective::exscan, input, output, op, 0);
}

} // namespace corymb

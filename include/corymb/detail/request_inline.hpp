// SPDX-License-Identifier: Apache-2.0
// Typed front of Team's nonblocking and persistent operations and of messages between two ranks.
#pragma once

#include <corymb/detail/team_inline.hpp>
#include <corymb/team.hpp>

#include <memory>
#include <utility>

namespace corymb {

template <class T, class Op>
Request Team::start_kept(Mode mode, Collective op, std::span<const T> input, std::span<T> output,
                         const Op& with, Rank root) {
    const auto wish_with = [&](const Op& one) {
        return has_parts(op) || op == Collective::scan || op == Collective::exscan
                   ? parts_wish(op, input, output, one)
                   : reduction_wish(op, input, output, one, root);
    };
    if constexpr (detail::is_stateless<Op>) {
        return start(mode, wish_with(with));
    } else { // The operation outlives the caller's operator.
        auto kept = std::make_shared<const Op>(with);
        const detail::Wish wish = wish_with(*kept);
        return start(mode, wish, std::move(kept));
    }
}

template <class T>
Request Team::ibroadcast(std::span<T> data, Rank root) {
    return start(Mode::nonblocking, detail::broadcast_wish(data, root));
}

template <class T>
Request Team::broadcast_init(std::span<T> data, Rank root) {
    return start(Mode::persistent, detail::broadcast_wish(data, root));
}

template <class T, class Op>
Request Team::ireduce(std::span<const T> input, std::span<T> output, Op op, Rank root) {
    return start_kept(Mode::nonblocking, Collective::reduce, input, output, op, root);
}

template <class T, class Op>
Request Team::reduce_init(std::span<const T> input, std::span<T> output, Op op, Rank root) {
    return start_kept(Mode::persistent, Collective::reduce, input, output, op, root);
}

template <class T, class Op>
Request Team::iallreduce(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::nonblocking, Collective::allreduce, input, output, op, 0);
}

template <class T, class Op>
Request Team::allreduce_init(std::span<const T> input, std::span<T> output, Op op) {
    return start_kept(Mode::persistent, Collective::allreduce, input, output, op, 0);
}

template <class T>
Request Team::isend(std::span<const T> data, Rank to) {
    static_assert(std::is_trivially_copyable_v<T>);
    return start_send(Mode::nonblocking, data.data(), data.size_bytes(), to);
}

template <class T>
Request Team::irecv(std::span<T> data, Rank from) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    return start_recv(Mode::nonblocking, data.data(), data.size_bytes(), from);
}

template <class T>
Request Team::send_init(std::span<const T> data, Rank to) {
    static_assert(std::is_trivially_copyable_v<T>);
    return start_send(Mode::persistent, data.data(), data.size_bytes(), to);
}

template <class T>
Request Team::recv_init(std::span<T> data, Rank from) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    return start_recv(Mode::persistent, data.data(), data.size_bytes(), from);
}

template <class T>
void Team::send(std::span<const T> data, Rank to) {
    isend(data, to).wait();
}

template <class T>
void Team::recv(std::span<T> data, Rank from) {
    irecv(data, from).wait();
}

template <class T>
void Team::sendrecv(std::span<const T> out, Rank to, std::span<T> in, Rank from) {
    Request incoming = irecv(in, from);
    Request outgoing = isend(out, to);
    outgoing.wait();
    incoming.wait();
}

} // namespace corymb

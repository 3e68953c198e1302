// SPDX-License-Identifier: Apache-2.0
// Typed front of Team's nonblocking and persistent operations and of messages between two ranks.
#pragma once

#include <corymb/detail/team_inline.hpp>
#include <corymb/team.hpp>

#include <memory>
#include <utility>

namespace corymb {

template <class T, class Op>
Request Team::start_kept(Mode mode, Collective op, const detail::Buffers<T>& of, const Op& with,
                         Rank root) {
    const auto wish_with = [&](const Op& one) {
        return has_parts(op) || op == Collective::scan || op == Collective::exscan
                   ? parts_wish(op, of, one)
                   : reduction_wish(op, of, one, root);
    };
    if constexpr (detail::is_stateless<Op>) {
        return start(mode, wish_with(with));
    } else { // The operation outlives the caller's operator.
        auto kept = std::make_shared<const Op>(with);
        const detail::Wish wish = wish_with(*kept);
        return start(mode, wish, std::move(kept));
    }
}

template <class T, Elements Data>
Request Team::ibroadcast(Data&& data, Rank root) {
    return start(Mode::nonblocking, detail::broadcast_wish(detail::write_to<T, Data>(data), root));
}

template <class T, Elements Data>
Request Team::broadcast_init(Data&& data, Rank root) {
    return start(Mode::persistent, detail::broadcast_wish(detail::write_to<T, Data>(data), root));
}

template <class T, Elements In, Elements Out, class Op>
Request Team::ireduce(In&& input, Out&& output, Op op, Rank root) {
    return start_kept(Mode::nonblocking, Collective::reduce,
                      detail::kept_buffers<T, In, Out>(input, output), op, root);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::reduce_init(In&& input, Out&& output, Op op, Rank root) {
    return start_kept(Mode::persistent, Collective::reduce,
                      detail::kept_buffers<T, In, Out>(input, output), op, root);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::iallreduce(In&& input, Out&& output, Op op) {
    return start_kept(Mode::nonblocking, Collective::allreduce,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements In, Elements Out, class Op>
Request Team::allreduce_init(In&& input, Out&& output, Op op) {
    return start_kept(Mode::persistent, Collective::allreduce,
                      detail::kept_buffers<T, In, Out>(input, output), op, 0);
}

template <class T, Elements Data>
Request Team::isend(Data&& data, Rank to) {
    const auto bytes = std::as_bytes(detail::read_later<T, Data>(data));
    return start_send(Mode::nonblocking, bytes.data(), bytes.size(), to);
}

template <class T, Elements Data>
Request Team::irecv(Data&& data, Rank from) {
    const auto bytes = std::as_writable_bytes(detail::write_to<T, Data>(data));
    return start_recv(Mode::nonblocking, bytes.data(), bytes.size(), from);
}

template <class T, Elements Data>
Request Team::send_init(Data&& data, Rank to) {
    const auto bytes = std::as_bytes(detail::read_later<T, Data>(data));
    return start_send(Mode::persistent, bytes.data(), bytes.size(), to);
}

template <class T, Elements Data>
Request Team::recv_init(Data&& data, Rank from) {
    const auto bytes = std::as_writable_bytes(detail::write_to<T, Data>(data));
    return start_recv(Mode::persistent, bytes.data(), bytes.size(), from);
}

template <class T, Elements Data>
void Team::send(Data&& data, Rank to) {
    isend(detail::read_from<T, Data>(data), to).wait();
}

template <class T, Elements Data>
void Team::recv(Data&& data, Rank from) {
    irecv(detail::write_to<T, Data>(data), from).wait();
}

template <class T, Elements Out, Elements In>
void Team::sendrecv(Out&& out, Rank to, In&& in, Rank from) {
    Request incoming = irecv(detail::write_to<T, In>(in), from);
    Request outgoing = isend(detail::read_from<T, Out>(out), to);
    outgoing.wait();
    incoming.wait();
}

} // namespace corymb

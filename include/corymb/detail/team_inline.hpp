// SPDX-License-Identifier: Apache-2.0
// Team's functions that are named after operations: each makes a value and runs, starts or prepares
// it.
#pragma once

#include <corymb/detail/typed_calls.hpp>
#include <corymb/team.hpp>

#include <memory>
#include <span>
#include <utility>

namespace corymb {

template <class Calls>
decltype(auto) Team::limited(const CallLimits& limits, Calls&& calls) {
    struct Restore {
        Team* team;
        CallLimits before;
        ~Restore() {
            try {
                team->set_limits(before);
            } catch (const Error&) { // The handle has gone in `calls`, and its limits with it.
            }
        }
    };
    const Restore restore{this, this->limits()};
    set_limits(limits);
    return std::forward<Calls>(calls)();
}

template <class T, AnyElements Data>
Data Team::broadcast(Data&& data, Rank root) {
    detail::NoInput<Data> none;
    // `Data&`: the result of a temporary is returned.
    run(detail::operation<Collective::broadcast, T, detail::NoInput<Data>, Data&>(*this, none, data,
                                                                                  root));
    return std::forward<Data>(data);
}

template <class T>
    requires(!AnyElements<T>)
T Team::broadcast(T value, Rank root) {
    broadcast(std::span<T>(&value, 1), root);
    return value;
}

template <class T, AnyElements Data>
Request Team::ibroadcast(Data&& data, Rank root) {
    detail::NoInput<Data> none;
    return start(detail::kept_operation<Collective::broadcast, T, detail::NoInput<Data>, Data>(
        *this, none, data, root));
}

template <class T, AnyElements Data>
Request Team::broadcast_init(Data&& data, Rank root) {
    detail::NoInput<Data> none;
    return prepare(detail::kept_operation<Collective::broadcast, T, detail::NoInput<Data>, Data>(
        *this, none, data, root));
}

template <class T, class Op>
    requires(!AnyElements<Op>)
T Team::allreduce(T value, Op op) {
    static_assert(detail::combines<T, Op>());
    T result;
    std::span<const T> input(&value, 1);
    std::span<T> output(&result, 1);
    run(detail::operation<Collective::allreduce, T, std::span<const T>, std::span<T>>(
        *this, input, output, detail::no_root, op));
    return result;
}

template <class T, AnyElements In, AnyElements Out, class Op>
void Team::reduce(In&& input, Out&& output, Op op, Rank root) {
    run(detail::operation<Collective::reduce, T, In, Out>(*this, input, output, root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::ireduce(In&& input, Out&& output, Op op, Rank root) {
    return start(
        detail::kept_operation<Collective::reduce, T, In, Out>(*this, input, output, root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::reduce_init(In&& input, Out&& output, Op op, Rank root) {
    return prepare(
        detail::kept_operation<Collective::reduce, T, In, Out>(*this, input, output, root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
void Team::allreduce(In&& input, Out&& output, Op op) {
    run(detail::operation<Collective::allreduce, T, In, Out>(*this, input, output, detail::no_root,
                                                             op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::iallreduce(In&& input, Out&& output, Op op) {
    return start(detail::kept_operation<Collective::allreduce, T, In, Out>(*this, input, output,
                                                                           detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::allreduce_init(In&& input, Out&& output, Op op) {
    return prepare(detail::kept_operation<Collective::allreduce, T, In, Out>(*this, input, output,
                                                                             detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out>
void Team::gather(In&& input, Out&& output, Rank root) {
    run(detail::operation<Collective::gather, T, In, Out>(*this, input, output, root));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::igather(In&& input, Out&& output, Rank root) {
    return start(
        detail::kept_operation<Collective::gather, T, In, Out>(*this, input, output, root));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::gather_init(In&& input, Out&& output, Rank root) {
    return prepare(
        detail::kept_operation<Collective::gather, T, In, Out>(*this, input, output, root));
}

template <class T, AnyElements Out, AnyElements In>
void Team::scatter(In&& input, Out&& output, Rank root) {
    run(detail::operation<Collective::scatter, T, In, Out>(*this, input, output, root));
}

template <class T, AnyElements Out, AnyElements In>
Request Team::iscatter(In&& input, Out&& output, Rank root) {
    return start(
        detail::kept_operation<Collective::scatter, T, In, Out>(*this, input, output, root));
}

template <class T, AnyElements Out, AnyElements In>
Request Team::scatter_init(In&& input, Out&& output, Rank root) {
    return prepare(
        detail::kept_operation<Collective::scatter, T, In, Out>(*this, input, output, root));
}

template <class T, AnyElements In, AnyElements Out>
void Team::allgather(In&& input, Out&& output) {
    run(detail::operation<Collective::allgather, T, In, Out>(*this, input, output,
                                                             detail::no_root));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::iallgather(In&& input, Out&& output) {
    return start(detail::kept_operation<Collective::allgather, T, In, Out>(*this, input, output,
                                                                           detail::no_root));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::allgather_init(In&& input, Out&& output) {
    return prepare(detail::kept_operation<Collective::allgather, T, In, Out>(*this, input, output,
                                                                             detail::no_root));
}

template <class T, AnyElements In, AnyElements Out>
void Team::alltoall(In&& input, Out&& output) {
    run(detail::operation<Collective::alltoall, T, In, Out>(*this, input, output, detail::no_root));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::ialltoall(In&& input, Out&& output) {
    return start(detail::kept_operation<Collective::alltoall, T, In, Out>(*this, input, output,
                                                                          detail::no_root));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::alltoall_init(In&& input, Out&& output) {
    return prepare(detail::kept_operation<Collective::alltoall, T, In, Out>(*this, input, output,
                                                                            detail::no_root));
}

template <class T, AnyElements In, AnyElements Out, class Op>
void Team::reduce_scatter(In&& input, Out&& output, Op op) {
    run(detail::operation<Collective::reduce_scatter, T, In, Out>(*this, input, output,
                                                                  detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::ireduce_scatter(In&& input, Out&& output, Op op) {
    return start(detail::kept_operation<Collective::reduce_scatter, T, In, Out>(
        *this, input, output, detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::reduce_scatter_init(In&& input, Out&& output, Op op) {
    return prepare(detail::kept_operation<Collective::reduce_scatter, T, In, Out>(
        *this, input, output, detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
void Team::scan(In&& input, Out&& output, Op op) {
    run(detail::operation<Collective::scan, T, In, Out>(*this, input, output, detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::iscan(In&& input, Out&& output, Op op) {
    return start(detail::kept_operation<Collective::scan, T, In, Out>(*this, input, output,
                                                                      detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::scan_init(In&& input, Out&& output, Op op) {
    return prepare(detail::kept_operation<Collective::scan, T, In, Out>(*this, input, output,
                                                                        detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
void Team::exscan(In&& input, Out&& output, Op op) {
    run(detail::operation<Collective::exscan, T, In, Out>(*this, input, output, detail::no_root,
                                                          op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::iexscan(In&& input, Out&& output, Op op) {
    return start(detail::kept_operation<Collective::exscan, T, In, Out>(*this, input, output,
                                                                        detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::exscan_init(In&& input, Out&& output, Op op) {
    return prepare(detail::kept_operation<Collective::exscan, T, In, Out>(*this, input, output,
                                                                          detail::no_root, op));
}

template <class T, AnyElements In, AnyElements Out>
void Team::gatherv(In&& input, Out&& output, Parts parts, Rank root) {
    run(detail::operation<Collective::gather, T, In, Out>(*this, input, output,
                                                          detail::VectorParts{root, {}, parts}));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::igatherv(In&& input, Out&& output, Parts parts, Rank root) {
    return start(detail::kept_operation<Collective::gather, T, In, Out>(
        *this, input, output, detail::VectorParts{root, {}, parts}));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::gatherv_init(In&& input, Out&& output, Parts parts, Rank root) {
    return prepare(detail::kept_operation<Collective::gather, T, In, Out>(
        *this, input, output, detail::VectorParts{root, {}, parts}));
}

template <class T, AnyElements Out, AnyElements In>
void Team::scatterv(In&& input, Parts parts, Out&& output, Rank root) {
    run(detail::operation<Collective::scatter, T, In, Out>(*this, input, output,
                                                           detail::VectorParts{root, parts, {}}));
}

template <class T, AnyElements Out, AnyElements In>
Request Team::iscatterv(In&& input, Parts parts, Out&& output, Rank root) {
    return start(detail::kept_operation<Collective::scatter, T, In, Out>(
        *this, input, output, detail::VectorParts{root, parts, {}}));
}

template <class T, AnyElements Out, AnyElements In>
Request Team::scatterv_init(In&& input, Parts parts, Out&& output, Rank root) {
    return prepare(detail::kept_operation<Collective::scatter, T, In, Out>(
        *this, input, output, detail::VectorParts{root, parts, {}}));
}

template <class T, AnyElements In, AnyElements Out>
void Team::allgatherv(In&& input, Out&& output, Parts parts) {
    run(detail::operation<Collective::allgather, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, {}, parts}));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::iallgatherv(In&& input, Out&& output, Parts parts) {
    return start(detail::kept_operation<Collective::allgather, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, {}, parts}));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::allgatherv_init(In&& input, Out&& output, Parts parts) {
    return prepare(detail::kept_operation<Collective::allgather, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, {}, parts}));
}

template <class T, AnyElements In, AnyElements Out>
void Team::alltoallv(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
    run(detail::operation<Collective::alltoall, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, input_parts, output_parts}));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::ialltoallv(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
    return start(detail::kept_operation<Collective::alltoall, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, input_parts, output_parts}));
}

template <class T, AnyElements In, AnyElements Out>
Request Team::alltoallv_init(In&& input, Parts input_parts, Out&& output, Parts output_parts) {
    return prepare(detail::kept_operation<Collective::alltoall, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, input_parts, output_parts}));
}

template <class T, AnyElements In, AnyElements Out, class Op>
void Team::reduce_scatterv(In&& input, Parts parts, Out&& output, Op op) {
    run(detail::operation<Collective::reduce_scatter, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, parts, {}}, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::ireduce_scatterv(In&& input, Parts parts, Out&& output, Op op) {
    return start(detail::kept_operation<Collective::reduce_scatter, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, parts, {}}, op));
}

template <class T, AnyElements In, AnyElements Out, class Op>
Request Team::reduce_scatterv_init(In&& input, Parts parts, Out&& output, Op op) {
    return prepare(detail::kept_operation<Collective::reduce_scatter, T, In, Out>(
        *this, input, output, detail::VectorParts{detail::no_root, parts, {}}, op));
}

template <class T, AnyElements Data>
Request Team::isend(Data&& data, Rank to) {
    return detail::Untyped::send(*this, false, detail::message_from<T, Data>(data), to);
}

template <class T, AnyElements Data>
Request Team::irecv(Data&& data, Rank from) {
    return detail::Untyped::receive(*this, false, detail::message_into<T, Data>(data), from);
}

template <class T, AnyElements Data>
Request Team::send_init(Data&& data, Rank to) {
    return detail::Untyped::send(*this, true, detail::message_from<T, Data>(data), to);
}

template <class T, AnyElements Data>
Request Team::recv_init(Data&& data, Rank from) {
    return detail::Untyped::receive(*this, true, detail::message_into<T, Data>(data), from);
}

template <class T, AnyElements Data>
void Team::send(Data&& data, Rank to) {
    isend(detail::read_from<T, Data>(data), to).wait();
}

template <class T, AnyElements Data>
void Team::recv(Data&& data, Rank from) {
    irecv(detail::write_to<T, Data>(data), from).wait();
}

template <class T, AnyElements Out, AnyElements In>
void Team::sendrecv(Out&& out, Rank to, In&& in, Rank from) {
    Request incoming = irecv(detail::write_to<T, In>(in), from);
    Request outgoing = isend(detail::read_from<T, Out>(out), to);
    outgoing.wait();
    incoming.wait();
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// Typed front of Team's operations; the work is done on bytes in the library.
#pragma once

#include <corymb/team.hpp>

#include <utility>

namespace corymb {

namespace detail {

template <class T>
Wish broadcast_wish(std::span<T> data, Rank root) {
    Wish wish{Collective::broadcast, root, nullptr, data.data(), data.size(), {}};
    wish.reduction.element_bytes = sizeof(T);
    wish.reduction.identity = move_identity<T>();
    return wish;
}

} // namespace detail

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

template <class T, Elements Data>
Data Team::broadcast(Data&& data, Rank root) {
    run(detail::broadcast_wish(detail::write_to<T, Data&>(data), root));
    return std::forward<Data>(data);
}

template <class T>
    requires(!Elements<T> && !detail::IsPointer<T>)
T Team::broadcast(T value, Rank root) {
    static_assert(detail::moves_as_bytes<T>());
    run(detail::broadcast_wish(std::span<T>(&value, 1), root));
    return value;
}

template <detail::IsPointer T>
void Team::broadcast(T&& /*refused*/, Rank /*root*/) {
    static_assert(detail::moves_as_bytes<std::remove_cvref_t<T>>());
}

template <class T, class Op>
detail::Wish Team::reduction_wish(Collective op, const detail::Buffers<T>& of, const Op& with,
                                  Rank root) const {
    if ((op == Collective::allreduce || rank() == root) && of.out.size() != of.in.size()) {
        throw Error(Errc::invalid_argument,
                    std::string(to_string(op)) + ": the output has " +
                        std::to_string(of.out.size()) + " elements, the input " +
                        std::to_string(of.in.size()) + "; they must be as many");
    }
    return {op, root, of.in.data(), of.out.data(), of.in.size(), reduction_of<T>(with)};
}

template <class T, Elements In, Elements Out, class Op>
void Team::reduce(In&& input, Out&& output, Op op, Rank root) {
    run(reduction_wish(Collective::reduce, detail::buffers<T, In, Out>(input, output), op, root));
}

template <class T, Elements In, Elements Out, class Op>
void Team::allreduce(In&& input, Out&& output, Op op) {
    run(reduction_wish(Collective::allreduce, detail::buffers<T, In, Out>(input, output), op, 0));
}

template <class T, class Op>
    requires(!Elements<Op> && !detail::IsPointer<T>)
T Team::allreduce(T value, Op op) {
    static_assert(detail::combines<T, Op>());
    T result;
    run({Collective::allreduce, 0, &value, &result, 1, reduction_of<T>(op)});
    return result;
}

template <detail::IsPointer T, class... Rest>
void Team::allreduce(T&& /*refused*/, Rest&&... /*rest*/) {
    static_assert(detail::moves_as_bytes<std::remove_cvref_t<T>>());
}

} // namespace corymb

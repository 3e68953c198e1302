// SPDX-License-Identifier: Apache-2.0
// From the buffers and operators of a program to operations as values, and what is done with them:
// run, started or prepared.
#pragma once

#include <corymb/detail/staged_buffers.hpp>
#include <corymb/detail/untyped.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace corymb::detail {

/// Stands for the operator of an operation that only moves data.
struct Moves {};

template <class T, class Op>
constexpr Reduction reduction_with(const Op& op) noexcept {
    if constexpr (std::is_same_v<Op, Moves>) {
        return move_of<T>();
    } else {
        return reduction_of<T>(op);
    }
}

/// Throws Errc::invalid_argument: these counts of elements do not fit each other.
[[noreturn]] CORYMB_EXPORT void refuse_counts(Collective op, std::size_t input, std::size_t output,
                                              int ranks);

/// The elements of one part. Throws Errc::invalid_argument where the buffers do not fit each other.
template <Collective Kind, class T>
std::size_t part_count(const Team& team, const Buffers<T>& of, Rank root) {
    constexpr bool many_in = Kind == Collective::scatter || Kind == Collective::alltoall ||
                             Kind == Collective::reduce_scatter;
    constexpr bool many_out =
        Kind == Collective::gather || Kind == Collective::allgather || Kind == Collective::alltoall;
    const std::size_t in = of.in.size();
    const std::size_t out = of.out.size();
    if constexpr (Kind == Collective::broadcast) {
        return out;
    } else if constexpr (many_in || many_out) {
        const int size = team.size(); // 0 for an empty handle, which is refused later.
        const auto ranks = static_cast<std::size_t>(size);
        const std::size_t whole = many_in ? in : out;
        const std::size_t part = many_in && many_out ? (size == 0 ? 0 : whole / ranks)
                                 : many_in           ? out
                                                     : in;
        const bool fits = whole == part * ranks && (!(many_in && many_out) || in == out);
        const bool is_here = !is_rooted(Kind) || team.rank() == root;
        if (is_here && !fits && size != 0) {
            refuse_counts(Kind, in, out, size);
        }
        return part;
    } else {
        if (in != out && (Kind != Collective::reduce || team.rank() == root)) {
            refuse_counts(Kind, in, out, team.size());
        }
        return in;
    }
}

/// In place of the root of an operation that has none.
inline constexpr Rank no_root = 0;

// The two functions below make the Reduction in its place: to copy one that has just been written
// stalls, for 8 of the 22 ns that an allreduce of one rank takes.

/// Parts of one length.
template <Collective Kind, class T, class Op>
CollectiveOperation operation_on(const Team& team, const Buffers<T>& of, Rank root,
                                 const Op& with) {
    return {Kind,
            root,
            of.in.data(),
            of.out.data(),
            part_count<Kind>(team, of, root),
            reduction_with<T>(with)};
}

/// The parts of the vector operations.
struct VectorParts {
    Rank root = 0;
    Parts input{};
    Parts output{};
};

template <Collective Kind, class T, class Op>
CollectiveOperation operation_on(const Team& /*team*/, const Buffers<T>& of,
                                 const VectorParts& parts, const Op& with) {
    constexpr bool has_one_in = Kind == Collective::gather || Kind == Collective::allgather;
    constexpr bool has_one_out = Kind == Collective::scatter || Kind == Collective::reduce_scatter;
    const std::size_t count = has_one_in ? of.in.size() : has_one_out ? of.out.size() : 0;
    return {Kind, parts.root,  of.in.data(), of.out.data(), count,        reduction_with<T>(with),
            true, parts.input, parts.output, of.in.size(),  of.out.size()};
}

/// Whether a buffer must be packed. Refuses that of an operation whose parts differ in length.
template <class In, class Out, class Root>
consteval bool is_staged() {
    constexpr bool has_layout = IsPacked<In> || IsPacked<Out>;
    static_assert(!has_layout || std::is_same_v<Root, Rank>,
                  "parts of different lengths lie in one piece: pack them before the call, and "
                  "unpack them after it");
    return has_layout && std::is_same_v<Root, Rank>;
}

/// What the types of a call must be like: `In` and `Out` are those of Team's parameters.
template <class In, class Out, class Root>
consteval bool fit() {
    static_assert(have_one_type<In, Out>());
    return is_staged<In, Out, Root>();
}

/// The operation on buffers of which one is a layout.
template <Collective Kind, class Value, class In, class Out, class Op>
OwnedOperation staged_operation(const Team& team, const In& input, const Out& output, Rank root,
                                const Op& with) {
    auto staged =
        std::make_shared<StagedBuffers<Value>>(input, output, uses_of(Kind, team.rank(), root));
    const auto operation = operation_on<Kind>(team, staged->buffers(), root, with);
    return OwnedOperation(operation, nullptr, std::move(staged));
}

/// The operation of a blocking call: a CollectiveOperation, or an OwnedOperation if a buffer is a
/// layout. `root` is a Rank or VectorParts.
template <Collective Kind, class T, class In, class Out, class Root, class Op = Moves>
auto operation(const Team& team, std::remove_reference_t<In>& input,
               std::remove_reference_t<Out>& output, const Root& root, const Op& with = {}) {
    using Value = ValueOf<Out>;
    if constexpr (fit<In, Out, Root>()) {
        return staged_operation<Kind, Value>(team, read_from<T, In>(input),
                                             write_to<T, Out>(output), root, with);
    } else {
        const Buffers<Value> buffers{read_from<T, In>(input), write_to<T, Out>(output)};
        return operation_on<Kind>(team, buffers, root, with);
    }
}

/// The operation of a request, which outlives the caller's operator: one with state is copied.
template <Collective Kind, class T, class In, class Out, class Root, class Op = Moves>
OwnedOperation kept_operation(const Team& team, std::remove_reference_t<In>& input,
                              std::remove_reference_t<Out>& output, const Root& root,
                              const Op& with = {}) {
    using Value = ValueOf<Out>;
    std::shared_ptr<const Op> kept;
    if constexpr (!is_stateless<Op>) {
        kept = std::make_shared<const Op>(with);
    }
    const Op& own = kept ? *kept : with;
    if constexpr (fit<In, Out, Root>()) {
        OwnedOperation made = staged_operation<Kind, Value>(team, read_later<T, In>(input),
                                                            write_to<T, Out>(output), root, own);
        made.keep = std::move(kept);
        return made;
    } else {
        const Buffers<Value> buffers{read_later<T, In>(input), write_to<T, Out>(output)};
        return OwnedOperation(operation_on<Kind>(team, buffers, root, own), std::move(kept));
    }
}

/// The message that sends `data`.
template <class T, class Data>
Untyped::Message message_from(std::remove_reference_t<Data>& data) {
    using Value = ValueOf<Data>;
    std::span<const Value> elements;
    std::shared_ptr<StagedBuffers<Value>> staged;
    if constexpr (IsPacked<Data>) {
        staged = std::make_shared<StagedBuffers<Value>>(
            read_later<T, Data>(data), std::span<Value>(), Uses{true, false, false});
        elements = staged->buffers().in;
    } else {
        elements = read_later<T, Data>(data);
    }
    // A send only reads; receive and send share the description of a message.
    return {const_cast<Value*>(elements.data()), elements.size_bytes(), 0, std::move(staged)};
}

/// The message that is received into `data`.
template <class T, class Data>
Untyped::Message message_into(std::remove_reference_t<Data>& data) {
    using Value = ValueOf<Data>;
    std::span<Value> elements;
    std::shared_ptr<StagedBuffers<Value>> staged;
    if constexpr (IsPacked<Data>) {
        staged = std::make_shared<StagedBuffers<Value>>(
            std::span<const Value>(), write_to<T, Data>(data), Uses{false, false, true});
        elements = staged->buffers().out;
    } else {
        elements = write_to<T, Data>(data);
    }
    return {elements.data(), elements.size_bytes(), 0, std::move(staged)};
}

} // namespace corymb::detail

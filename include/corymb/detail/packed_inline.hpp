// SPDX-License-Identifier: Apache-2.0
// Typed front of operations on data that does not lie in one piece: copied out, and back.
#pragma once

#include <corymb/packed.hpp>
#include <corymb/team.hpp>

#include <memory>
#include <string>

namespace corymb {

namespace detail {

/// A layout's elements in one piece.
template <class T>
class Staged {
public:
    static_assert(std::is_trivially_copyable_v<T>);

    explicit Staged(const Packed<T>& layout)
        : layout_(&layout), elements_(std::make_unique_for_overwrite<T[]>(layout.count)) {}

    [[nodiscard]] std::span<T> elements() const { return {elements_.get(), layout_->count}; }
    void pack() const {
        if (layout_->count != 0) {
            require(layout_->pack != nullptr, "pack");
            layout_->pack(elements());
        }
    }
    /// Before the operation, which would otherwise be in vain.
    void require_unpack() const {
        require(layout_->count == 0 || layout_->unpack != nullptr, "unpack");
    }
    void unpack() const {
        if (layout_->count != 0) {
            layout_->unpack(elements());
        }
    }

private:
    static void require(bool is_there, const char* function) {
        if (!is_there) {
            throw Error(Errc::invalid_argument, std::string("the packed layout has no function ") +
                                                    function + ", which this operation needs");
        }
    }

    const Packed<T>* layout_;
    std::unique_ptr<T[]> elements_;
};

/// Runs `call` on the packed input and, where this rank gets a result, unpacks the output.
template <class T, class Call>
void with_packed(const Packed<T>& input, const Packed<T>& output, bool has_result, Call call) {
    const Staged<T> in(input);
    const Staged<T> out(output);
    in.pack();
    if (has_result) {
        out.require_unpack();
    }
    call(std::span<const T>(in.elements()), out.elements());
    if (has_result) {
        out.unpack();
    }
}

} // namespace detail

template <class T>
void Team::broadcast(const Packed<T>& data, Rank root) {
    const detail::Staged<T> staged(data);
    if (rank() == root) {
        staged.pack();
    } else {
        staged.require_unpack();
    }
    broadcast(staged.elements(), root);
    if (rank() != root) {
        staged.unpack();
    }
}

template <class T, class Op>
void Team::reduce(const Packed<T>& input, const Packed<T>& output, Op op, Rank root) {
    detail::with_packed(input, output, rank() == root,
                        [&](auto in, auto out) { reduce(in, out, op, root); });
}

template <class T, class Op>
void Team::allreduce(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::with_packed(input, output, true, [&](auto in, auto out) { allreduce(in, out, op); });
}

template <class T>
void Team::gather(const Packed<T>& input, const Packed<T>& output, Rank root) {
    detail::with_packed(input, output, rank() == root,
                        [&](auto in, auto out) { gather(in, out, root); });
}

template <class T>
void Team::scatter(const Packed<T>& input, const Packed<T>& output, Rank root) {
    const Packed<T> none;
    detail::with_packed(rank() == root ? input : none, output, true,
                        [&](auto in, auto out) { scatter(in, out, root); });
}

template <class T>
void Team::allgather(const Packed<T>& input, const Packed<T>& output) {
    detail::with_packed(input, output, true, [&](auto in, auto out) { allgather(in, out); });
}

template <class T>
void Team::alltoall(const Packed<T>& input, const Packed<T>& output) {
    detail::with_packed(input, output, true, [&](auto in, auto out) { alltoall(in, out); });
}

template <class T, class Op>
void Team::reduce_scatter(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::with_packed(input, output, true,
                        [&](auto in, auto out) { reduce_scatter(in, out, op); });
}

template <class T, class Op>
void Team::scan(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::with_packed(input, output, true, [&](auto in, auto out) { scan(in, out, op); });
}

template <class T, class Op>
void Team::exscan(const Packed<T>& input, const Packed<T>& output, Op op) {
    detail::with_packed(input, output, rank() != 0,
                        [&](auto in, auto out) { exscan(in, out, op); });
}

template <class T>
void Team::send(const Packed<T>& data, Rank to) {
    const detail::Staged<T> staged(data);
    staged.pack();
    send(std::span<const T>(staged.elements()), to);
}

template <class T>
void Team::recv(const Packed<T>& data, Rank from) {
    const detail::Staged<T> staged(data);
    staged.require_unpack();
    recv(staged.elements(), from);
    staged.unpack();
}

} // namespace corymb

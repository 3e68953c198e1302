// SPDX-License-Identifier: Apache-2.0
// One rank's elements of a shared array, and what others ask of them.
#pragma once

#include <corymb/array_mapping.hpp>
#include <corymb/detail/copies.hpp>
#include <corymb/detail/part_memory.hpp>
#include <corymb/placement.hpp>
#include <corymb/plain_data.hpp>
#include <corymb/remote.hpp>
#include <corymb/task.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace corymb {

template <class T>
struct SharedArrayOptions {
    ArrayMapping mapping = ArrayMapping::block();
    Placement placement = Placement::owned;
    T initial{}; ///< The value of all elements.
    /// Ranks of one node that give one number share copies. Negative: the number of the memory node
    /// (NUMA) of the CPU on which the rank runs now.
    int replica_group = -1;
    /// Elements of other ranks are reached by calls only, as if each rank was on a node of its own.
    bool by_calls = false;
    /// What the elements mean, for example. All ranks give one number.
    std::uint64_t mark = 0;
    /// Placement::cached: bytes of neighbouring elements that are fetched and dropped together. Too
    /// small: a call for each few elements. Too large: writes drop what they do not change.
    std::size_t block_bytes = 4096;
    /// Placement::cached: bytes of copies that a rank keeps at most. It drops all of them then.
    std::size_t cache_bytes = std::size_t{64} << 20U;
};

} // namespace corymb

namespace corymb::detail {

/// Whether single elements are read and written without a lock and as a whole.
template <class T>
inline constexpr bool is_atomic_element = std::atomic_ref<T>::is_always_lock_free;

template <class T>
T read_element(T& element) noexcept {
    if constexpr (is_atomic_element<T>) {
        return std::atomic_ref<T>(element).load(std::memory_order_relaxed);
    } else {
        return element;
    }
}
template <class T>
void write_element(T& element, const T& value) noexcept {
    if constexpr (is_atomic_element<T>) {
        std::atomic_ref<T>(element).store(value, std::memory_order_relaxed);
    } else {
        element = value;
    }
}
/// element = op(element, value). Gives what was there before. Atomic for atomic elements.
template <class T, class Op>
T update_element(T& element, const T& value, Op& op) {
    T before = read_element(element);
    if constexpr (is_atomic_element<T>) {
        std::atomic_ref<T> shared(element);
        while (!shared.compare_exchange_weak(before, op(std::as_const(before), value),
                                             std::memory_order_relaxed)) {
        }
    } else {
        element = op(std::as_const(before), value);
    }
    return before;
}

/// Some elements of one rank: a run, or a list.
struct Offsets {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::vector<std::uint64_t> list; ///< Empty: a run.

    [[nodiscard]] std::size_t operator[](std::size_t i) const noexcept {
        return static_cast<std::size_t>(list.empty() ? first + i : list[i]);
    }
    void add(std::uint64_t offset) {
        if (count == 0) {
            first = offset;
        } else if (list.empty() && offset != first + count) {
            for (std::uint64_t i = 0; i < count; ++i) {
                list.push_back(first + i);
            }
        }
        if (!list.empty()) {
            list.push_back(offset);
        }
        ++count;
    }
};

/// Blocks of elements as they travel to a rank that may keep them.
template <class T>
struct HandedBlocks {
    std::vector<char> may_keep; ///< By block.
    std::vector<T> elements;
};

/// What a rank tells the others about its part.
struct PartFacts {
    PartName memory;        ///< None: its elements are reached by calls.
    std::int32_t group = 0; ///< Ranks of one number share copies.
    bool is_replicated = false;
    std::uint64_t count = 0; ///< Elements of the array; this and the next are equal on all ranks.
    std::uint64_t tile = 0;
    std::uint64_t mark = 0;
    std::uint64_t block = 0; ///< Elements of a block of copies; 0: there are none.
};

template <class T>
class ArrayPart {
public:
    /// `copies`: null if there are none.
    ArrayPart(const ArrayLayout& layout, const SharedArrayOptions<T>& options,
              std::shared_ptr<Copies> copies)
        : copies_(std::move(copies)),
          block_(std::max<std::size_t>(options.block_bytes / sizeof(T), 1)),
          memory_(std::max<std::size_t>(layout.size(here()), 1) * sizeof(T)),
          elements_(reinterpret_cast<T*>(memory_.data()), layout.size(here())),
          facts_{options.by_calls ? PartName() : memory_.name(),
                 options.replica_group < 0 ? memory_node_here() : options.replica_group,
                 options.placement == Placement::replicated,
                 layout.count(),
                 options.mapping.tile(),
                 options.mark,
                 copies_ == nullptr ? 0 : block_} {
        std::uninitialized_fill(elements_.begin(), elements_.end(), options.initial);
    }

    [[nodiscard]] PartFacts facts() const noexcept { return facts_; }
    [[nodiscard]] PartName replica() const noexcept { return replica_; }
    void set_replica(const PartName& made) noexcept { replica_ = made; }
    [[nodiscard]] std::span<T> elements() const noexcept { return elements_; }
    [[nodiscard]] const PartMemory& memory() const noexcept { return memory_; }

    // For calls.
    [[nodiscard]] T read(std::uint64_t offset) const { return read_element(at(offset)); }
    void write(std::uint64_t offset, const T& value) { write_element(at(offset), value); }
    template <class Op>
    T update(std::uint64_t offset, const T& value, Op op) {
        return update_element(at(offset), value, op);
    }
    [[nodiscard]] std::vector<T> read_all(const Offsets& of) const {
        std::vector<T> values;
        values.reserve(of.count);
        for (std::size_t i = 0; i < of.count; ++i) {
            values.push_back(read_element(at(of[i])));
        }
        return values;
    }
    void write_all(const Offsets& of, const std::vector<T>& values) {
        for (std::size_t i = 0; i < of.count; ++i) {
            write_element(at(of[i]), values[i]);
        }
    }
    template <class Op>
    void update_all(const Offsets& of, const std::vector<T>& values, Op op) {
        for (std::size_t i = 0; i < of.count; ++i) {
            update_element(at(of[i]), values[i], op);
        }
    }

    // Copies.
    /// Elements of a block.
    [[nodiscard]] std::size_t block() const noexcept { return block_; }
    /// A block among all of the array.
    [[nodiscard]] static Piece piece(Rank rank, std::size_t block) noexcept {
        return static_cast<Piece>(rank) << 40U | block;
    }
    /// One behind the other. `to` may keep those that are not about to change.
    [[nodiscard]] HandedBlocks<T> hand_out(const std::vector<std::uint64_t>& blocks, Rank to) {
        HandedBlocks<T> handed;
        handed.may_keep.reserve(blocks.size());
        for (const std::uint64_t block : blocks) {
            handed.may_keep.push_back(copies_->hand_out(piece(here(), block), to) ? 1 : 0);
            const std::size_t end = std::min((block + 1) * block_, elements_.size());
            for (std::size_t offset = block * block_; offset < end; ++offset) {
                handed.elements.push_back(read_element(at(offset)));
            }
        }
        return handed;
    }
    /// Calls a method that writes, when no rank has a copy of what it writes.
    template <auto Method, class Where, class... A>
    Task<std::invoke_result_t<decltype(Method), ArrayPart&, const Where&, const A&...>>
    change(Where where, A... arguments) {
        const auto write = [&] {
            return (this->*Method)(where, arguments...);
        };
        co_return co_await copies_->change(pieces(where), write);
    }

private:
    [[nodiscard]] T& at(std::uint64_t offset) const noexcept { return elements_[offset]; }
    [[nodiscard]] std::vector<Piece> pieces(std::uint64_t offset) const {
        return std::vector<Piece>(1, piece(here(), offset / block_));
    }
    [[nodiscard]] std::vector<Piece> pieces(const Offsets& of) const {
        std::vector<Piece> all;
        for (std::size_t i = 0; i < of.count; ++i) {
            all.push_back(piece(here(), of[i] / block_));
        }
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    std::shared_ptr<Copies> copies_;
    std::size_t block_; ///< Elements of a block of copies; the last one may have fewer.
    PartMemory memory_;
    std::span<T> elements_;
    PartFacts facts_;
    PartName replica_;
};

} // namespace corymb::detail

namespace corymb {
template <class T>
struct RemoteCodec<detail::HandedBlocks<T>> {
    using Blocks = detail::HandedBlocks<T>;
    static std::size_t size(const Blocks& of) {
        return detail::size_of_all(of.may_keep, of.elements);
    }
    static void write(RemoteWriter& to, const Blocks& of) {
        detail::write_all(to, of.may_keep, of.elements);
    }
    static Blocks read(RemoteReader& from) {
        Blocks come;
        come.may_keep = RemoteCodec<std::vector<char>>::read(from);
        come.elements = RemoteCodec<std::vector<T>>::read(from);
        return come;
    }
};
template <>
struct RemoteCodec<detail::Offsets> {
    static std::size_t size(const detail::Offsets& of) {
        return detail::size_of_all(of.first, of.count, of.list);
    }
    static void write(RemoteWriter& to, const detail::Offsets& of) {
        detail::write_all(to, of.first, of.count, of.list);
    }
    static detail::Offsets read(RemoteReader& from) {
        detail::Offsets of;
        of.first = RemoteCodec<std::uint64_t>::read(from);
        of.count = RemoteCodec<std::uint64_t>::read(from);
        of.list = RemoteCodec<std::vector<std::uint64_t>>::read(from);
        return of;
    }
};
} // namespace corymb

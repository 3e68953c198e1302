// SPDX-License-Identifier: Apache-2.0
// An array whose elements are spread over the ranks of a group. docs/reference/shared.md says what
// readers may see.
#pragma once

#include <corymb/array_mapping.hpp>
#include <corymb/detail/array_part.hpp>
#include <corymb/detail/finish_whole.hpp>
#include <corymb/detail/now_or_later.hpp>
#include <corymb/detail/recall.hpp>
#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/finish.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/scheduler.hpp>
#include <corymb/task.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb {

/// An array of plain data (is_plain_data). All ranks of a group make it together. Each then reads
/// and writes single elements or many. Ranks of one machine touch each other's elements directly.
/// Movable. For the thread of its rank.
///
/// Single elements of up to 8 bytes whose size is a power of two are read, written and updated as a
/// whole (relaxed atomic). All else (bulk functions, spans, larger elements) are plain accesses: a
/// data race if another rank writes the element meanwhile. `sync` and messages put accesses of
/// different ranks in order.
///
/// All functions throw Errc::invalid_argument for elements that do not exist.
template <class T>
class SharedArray {
    static_assert(is_plain_data<T> && std::is_default_constructible_v<T>,
                  "elements of a shared array are plain data: their bytes are all of them");
    static_assert(!std::is_same_v<T, bool>, "use char for truth values");

public:
    using Options = SharedArrayOptions<T>;

    /// For co_await, on all ranks, with equal arguments: an array of `count` elements. Names as
    /// Distributed. Each rank asks each other one once. Throws Errc::io when there is no memory;
    /// Errc::team_broken when a rank has gone; Errc::mismatch when the arguments differ.
    [[nodiscard]] static Task<SharedArray> make(std::string name, std::size_t count,
                                                Options options = {}) {
        SharedArray made(name, count, options);
        std::exception_ptr why;
        try {
            co_await finish([&made] {
                for (Rank rank = 0; rank < ranks(); ++rank) {
                    if (rank != here()) {
                        static_cast<void>(spawn(made.learn(rank)));
                    }
                }
            });
            std::ranges::sort(made.mates_);
        } catch (...) {
            why = std::current_exception();
        }
        co_await made.barrier_->arrive(); // All have opened the parts of all.
        if (why != nullptr) {
            std::rethrow_exception(why); // Others have learnt as much.
        }
        co_return made;
    }

    [[nodiscard]] std::size_t size() const noexcept { return layout_.count(); }
    [[nodiscard]] const ArrayLayout& layout() const noexcept { return layout_; }
    /// The rank of an element.
    [[nodiscard]] Rank owner(std::size_t index) const { return place(index).rank; }

    /// This rank's elements, in the order of their indices.
    [[nodiscard]] std::span<T> local() const noexcept { return part_->elements(); }
    /// The elements of a rank, if this one touches them directly; else none.
    [[nodiscard]] std::span<T> near(Rank rank) const {
        return near_.at(static_cast<std::size_t>(rank));
    }
    /// The elements from this one on that lie one behind the other where this rank touches them:
    /// all, in a copy for its group while the array is frozen. None: they are reached by calls.
    [[nodiscard]] std::span<const T> row(std::size_t index) const {
        require(index);
        if (!replica_.empty()) {
            return replica_.subspan(index);
        }
        const ArrayLayout::Place at = place(index);
        const T* const first = direct(at);
        return {first, first == nullptr ? 0 : std::min(at.run, size() - index)};
    }
    /// Calls f(index, element) for each element of this rank.
    template <class F>
    void for_local(const F& f) const {
        const std::span<T> own = local();
        for (std::size_t offset = 0; offset < own.size(); ++offset) {
            f(layout_.index(own_, offset), own[offset]);
        }
    }

    /// For co_await: an element.
    [[nodiscard]] detail::NowOrLater<T> get(std::size_t index) const {
        if (!replica_.empty()) {
            require(index);
            return replica_[index];
        }
        const ArrayLayout::Place at = place(index);
        if (T* const element = direct(at)) {
            return detail::read_element(*element);
        }
        if (!is_cached()) {
            return call<&Part::read>(at);
        }
        if (const Block* const copy = copies().template find<Block>(piece(at.rank, at.offset))) {
            return (*copy)[at.offset % part_->block()];
        }
        return fetch_one(index);
    }
    /// For co_await: writes an element.
    [[nodiscard]] detail::NowOrLater<void> put(std::size_t index, const T& value) {
        require_writable();
        const ArrayLayout::Place at = place(index);
        if (T* const element = writable(at)) {
            detail::write_element(*element, value);
            return true;
        }
        if (is_cached()) {
            return call<&Part::template change<&Part::write, std::uint64_t, T>>(at, value);
        }
        return call<&Part::write>(at, value);
    }
    /// For co_await: element = op(element, value), and gives what was there before. Atomic among
    /// all accesses to single elements for those that are atomic, else among calls of this.
    template <class Op = std::plus<T>>
    [[nodiscard]] detail::NowOrLater<T> accumulate(std::size_t index, const T& value, Op op = {}) {
        static_assert(detail::is_object_that_travels<Op>());
        require_writable();
        const ArrayLayout::Place at = place(index);
        T* const element = writable(at);
        if (element != nullptr && (detail::is_atomic_element<T> || at.rank == own_)) {
            return detail::update_element(*element, value, op);
        }
        if (is_cached()) {
            constexpr auto update = &Part::template update<Op>;
            return call<&Part::template change<update, std::uint64_t, T, Op>>(at, value, op);
        }
        return call<&Part::template update<Op>>(at, value, op);
    }

    /// A pointer to an element, which is good until its rank ends the array. Sends nothing. Calls
    /// by it run on the element's rank, also while the array is frozen.
    [[nodiscard]] Remote<T> element(std::size_t index) const {
        const ArrayLayout::Place at = place(index);
        return detail::RemoteAccess::pointer<T>(elements_.id(at.rank)) +
               static_cast<std::ptrdiff_t>(at.offset);
    }

    /// For co_await: the elements first, first + stride, and so on, as many as there is room for.
    [[nodiscard]] Task<> get(std::size_t first, std::span<T> to, std::size_t stride = 1) const {
        require(first, to.size(), stride);
        return read_some([first, stride](std::size_t i) { return first + i * stride; }, to,
                         stride == 1);
    }
    /// For co_await: these elements, in this order.
    [[nodiscard]] Task<> get(std::span<const std::size_t> indices, std::span<T> to) const {
        require(indices, to.size());
        return read_some([indices](std::size_t i) { return indices[i]; }, to, false);
    }
    /// For co_await: writes the elements first, first + stride, and so on.
    [[nodiscard]] Task<> put(std::size_t first, std::span<const T> from, std::size_t stride = 1) {
        require(first, from.size(), stride);
        return write_some([first, stride](std::size_t i) { return first + i * stride; }, from,
                          stride == 1, Write());
    }
    [[nodiscard]] Task<> put(std::span<const std::size_t> indices, std::span<const T> from) {
        require(indices, from.size());
        return write_some([indices](std::size_t i) { return indices[i]; }, from, false, Write());
    }
    /// For co_await: as the other `accumulate` for each of these elements.
    template <class Op = std::plus<T>>
    [[nodiscard]] Task<> accumulate(std::size_t first, std::span<const T> from,
                                    std::size_t stride = 1, Op op = {}) {
        static_assert(detail::is_object_that_travels<Op>());
        require(first, from.size(), stride);
        return write_some([first, stride](std::size_t i) { return first + i * stride; }, from,
                          false, Update<Op>{op});
    }

    /// For co_await, on all ranks: what each has written before is seen by all after it, also what
    /// was written through spans and pointers: copies are dropped. Throws as RankBarrier::arrive.
    [[nodiscard]] Task<> sync() {
        co_await barrier_->arrive();
        if (copies_.has_value()) {
            copies().forget_all();
        }
    }
    /// For co_await, on all ranks: `sync`, and from then on the array is only read, without any
    /// message. Elements that this rank cannot touch directly are copied, once for each group of
    /// replicas; so are all with Placement::replicated, if there are several groups. Writing throws
    /// Errc::invalid_argument. Throws Errc::io when there is no memory for copies, and then
    /// Errc::team_broken on the other ranks; otherwise as `sync`.
    [[nodiscard]] Task<> freeze() {
        if (is_frozen_) {
            co_return;
        }
        co_await sync();
        if (has_replicas()) {
            std::exception_ptr why;
            try {
                co_await replicate();
            } catch (...) {
                why = std::current_exception();
            }
            if (why != nullptr) {
                barrier_->give_up(why);
            }
        }
        is_frozen_ = true;
    }
    /// For co_await, on all ranks: ends what `freeze` has begun.
    [[nodiscard]] Task<> thaw() {
        if (!is_frozen_) {
            co_return;
        }
        co_await sync();
        replica_ = {};
        replica_memory_ = {};
        is_frozen_ = false;
    }
    [[nodiscard]] bool is_frozen() const noexcept { return is_frozen_; }

    /// A copy that several ranks share counts on the first of them.
    [[nodiscard]] MemoryUse memory() const noexcept {
        MemoryUse use{local().size_bytes(), 0, part_->memory().overhead() + sizeof *this};
        use.overhead += near_.capacity() * sizeof near_[0] + sizeof(Part) +
                        opened_.capacity() * sizeof opened_[0] + sizeof(RankBarrier);
        if (!replica_.empty() && leader() == own_) {
            use.replicas = replica_.size_bytes();
            use.overhead += replica_memory_.overhead();
        }
        if (copies_.has_value()) {
            use.replicas += copies().kept_bytes();
            use.overhead += copies().overhead();
        }
        return use;
    }

private:
    using Part = detail::ArrayPart<T>;
    struct Write {
        void operator()(T& element, const T& value) const { element = value; }
        [[nodiscard]] auto call(const Remote<Part>& on, const detail::Offsets& of,
                                std::vector<T> values) const {
            return on.template call<&Part::write_all>(of, std::move(values));
        }
        [[nodiscard]] auto call_cached(const Remote<Part>& on, const detail::Offsets& of,
                                       std::vector<T> values) const {
            using Values = std::vector<T>;
            return on
                .template call<&Part::template change<&Part::write_all, detail::Offsets, Values>>(
                    of, std::move(values));
        }
    };
    template <class Op>
    struct Update {
        Op op;
        void operator()(T& element, const T& value) { detail::update_element(element, value, op); }
        [[nodiscard]] auto call(const Remote<Part>& on, const detail::Offsets& of,
                                std::vector<T> values) const {
            return on.template call<&Part::template update_all<Op>>(of, std::move(values), op);
        }
        [[nodiscard]] auto call_cached(const Remote<Part>& on, const detail::Offsets& of,
                                       std::vector<T> values) const {
            using Values = std::vector<T>;
            constexpr auto update = &Part::template update_all<Op>;
            return on.template call<&Part::template change<update, detail::Offsets, Values, Op>>(
                of, std::move(values), op);
        }
    };

    SharedArray(const std::string& name, std::size_t count, const Options& options)
        : layout_(options.mapping, count, ranks()), own_(here()),
          copies_(copies_for(name, options)),
          part_(name, layout_, options, copies_.has_value() ? copies_->copies() : nullptr),
          elements_(name + " (elements)", {local().data(), &typeid(T), sizeof(T), local().size()}),
          barrier_(std::make_unique<RankBarrier>(name + " (barrier)")),
          near_(static_cast<std::size_t>(ranks())) {
        near_[static_cast<std::size_t>(own_)] = part_->elements();
    }
    static std::optional<detail::CopiesPlace> copies_for(const std::string& name,
                                                         const Options& options) {
        std::optional<detail::CopiesPlace> copies;
        if (options.placement == Placement::cached) {
            copies.emplace(name + " (copies)", options.cache_bytes);
        }
        return copies;
    }
    Task<> learn(Rank rank) {
        const detail::PartFacts facts = co_await part_.on(rank).template call<&Part::facts>();
        require_equal(facts, rank);
        const bool shares = detail::shares_memory(rank);
        if (shares && facts.group == part_->facts().group) {
            mates_.push_back(rank);
        } else {
            has_others_ = has_others_ || facts.is_replicated;
        }
        if (!shares || facts.memory.offset == 0) {
            has_far_ = true;
        } else {
            opened_.emplace_back(facts.memory);
            near_[static_cast<std::size_t>(rank)] =
                std::span(reinterpret_cast<T*>(opened_.back().data()), layout_.size(rank));
        }
    }

    void require_equal(const detail::PartFacts& of_other, Rank rank) const {
        const detail::PartFacts own = part_->facts();
        if (own.count != of_other.count || own.tile != of_other.tile || own.mark != of_other.mark ||
            own.block != of_other.block) {
            throw Error(
                Errc::mismatch,
                "rank " + std::to_string(own_) + " makes a shared array of " +
                    std::to_string(own.count) + " elements, and rank " + std::to_string(rank) +
                    " one of " + std::to_string(of_other.count) +
                    (own.count == of_other.count ? " with another mapping, mark or cache" : ""),
                {own_, rank});
        }
    }
    [[nodiscard]] ArrayLayout::Place place(std::size_t index) const {
        require(index);
        return layout_.place(index);
    }
    /// Null: by calls.
    [[nodiscard]] T* direct(const ArrayLayout::Place& at) const noexcept {
        const std::span<T> part = near_[static_cast<std::size_t>(at.rank)];
        return part.empty() ? nullptr : &part[at.offset];
    }
    /// Some ranks may have copies, so owners write.
    [[nodiscard]] bool is_cached() const noexcept { return has_far_ && copies_.has_value(); }
    [[nodiscard]] detail::Copies& copies() const noexcept { return *copies_->copies(); }
    [[nodiscard]] detail::Piece piece(Rank rank, std::size_t offset) const noexcept {
        return Part::piece(rank, offset / part_->block());
    }
    /// As `direct`, for a write.
    [[nodiscard]] T* writable(const ArrayLayout::Place& at) const noexcept {
        const bool is_free =
            !is_cached() || (at.rank == own_ && !copies().is_kept(piece(own_, at.offset)));
        return is_free ? direct(at) : nullptr;
    }
    template <auto Method, class... A>
    auto call(const ArrayLayout::Place& at, const A&... arguments) const {
        using Given = std::invoke_result_t<decltype(Method), Part&, std::uint64_t, const A&...>;
        const auto wait = [](Remote<Part> on, std::uint64_t offset,
                             A... given) -> Task<typename detail::ResultOf<Given>::Type> {
            co_return co_await on.template call<Method>(offset, given...);
        };
        return wait(part_.on(at.rank), at.offset, arguments...);
    }

    /// Calls run(rank, offset, i, count) for runs of elements, of which `index(i)` is the i-th.
    template <class Index, class Run>
    void for_runs(const Index& index, std::size_t count, bool is_dense, const Run& run) const {
        for (std::size_t i = 0; i < count;) {
            const ArrayLayout::Place at = layout_.place(index(i));
            const std::size_t length = is_dense ? std::min(at.run, count - i) : 1;
            run(at, i, length);
            i += length;
        }
    }
    /// Elements that are reached by calls of one rank.
    struct Far {
        detail::Offsets offsets;
        std::vector<std::size_t> positions;
        void add(const ArrayLayout::Place& at, std::size_t i, std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) {
                offsets.add(at.offset + k);
                positions.push_back(i + k);
            }
        }
    };
    template <class Index>
    Task<> read_some(Index index, std::span<T> to, bool is_dense) const {
        if (!replica_.empty()) {
            for (std::size_t i = 0; i < to.size(); ++i) {
                to[i] = replica_[index(i)];
            }
            co_return;
        }
        std::vector<Far> far(has_far_ ? near_.size() : 0);
        for_runs(index, to.size(), is_dense,
                 [&](const ArrayLayout::Place& at, std::size_t i, std::size_t count) {
                     if (const T* const from = direct(at)) {
                         std::copy_n(from, count, &to[i]);
                     } else {
                         far[static_cast<std::size_t>(at.rank)].add(at, i, count);
                     }
                 });
        if (is_cached()) {
            co_await read_blocks(far, to);
            co_return;
        }
        co_await for_far(far, [this, to](Rank rank, const Far& of) -> Task<> {
            const auto values = co_await part_.on(rank).template call<&Part::read_all>(of.offsets);
            for (std::size_t i = 0; i < values.size(); ++i) {
                to[of.positions[i]] = values[i];
            }
        });
    }
    using Block = std::vector<T>;
    using Blocks = std::unordered_map<detail::Piece, std::shared_ptr<const Block>>;
    Task<T> fetch_one(std::size_t index) const {
        T value;
        co_await get(index, std::span(&value, 1));
        co_return value;
    }
    /// Out of copies, and fetches those that this rank does not have.
    Task<> read_blocks(const std::vector<Far>& far, std::span<T> to) const {
        Blocks blocks;
        std::vector<std::vector<std::uint64_t>> missing(far.size());
        const auto for_all = [&far](const auto& each) {
            for (std::size_t rank = 0; rank < far.size(); ++rank) {
                for (std::size_t i = 0; i < far[rank].positions.size(); ++i) {
                    each(static_cast<Rank>(rank), far[rank].offsets[i], far[rank].positions[i]);
                }
            }
        };
        for_all([&](Rank rank, std::size_t offset, std::size_t /*position*/) {
            const auto [at, is_new] = blocks.try_emplace(piece(rank, offset));
            if (is_new) {
                at->second = copies().template share<Block>(at->first);
                if (at->second == nullptr) {
                    missing[static_cast<std::size_t>(rank)].push_back(offset / part_->block());
                }
            }
        });
        const auto fetch_all = [&] {
            for (std::size_t rank = 0; rank < missing.size(); ++rank) {
                if (!missing[rank].empty()) {
                    spawn(fetch(static_cast<Rank>(rank), missing[rank], blocks));
                }
            }
        };
        co_await detail::finish_whole(fetch_all, "parts of an array");
        for_all([&](Rank rank, std::size_t offset, std::size_t position) {
            to[position] = (*blocks.at(piece(rank, offset)))[offset % part_->block()];
        });
    }
    Task<> fetch(Rank rank, const std::vector<std::uint64_t>& numbers, Blocks& blocks) const {
        std::vector<detail::Copies::Fetch> fetches;
        fetches.reserve(numbers.size());
        for (const std::uint64_t number : numbers) {
            fetches.emplace_back(copies_->copies(), Part::piece(rank, number));
        }
        const detail::HandedBlocks<T> come =
            co_await part_.on(rank).template call<&Part::hand_out>(numbers, own_);
        const T* first = come.elements.data();
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const std::size_t length = std::min<std::size_t>(
                part_->block(), layout_.size(rank) - numbers[i] * part_->block());
            auto block = std::make_shared<const Block>(first, first + length);
            first += length;
            if (come.may_keep[i] != 0) {
                fetches[i].keep(block, length * sizeof(T));
            }
            blocks[Part::piece(rank, numbers[i])] = std::move(block);
        }
    }
    template <class Index, class Change>
    Task<> write_some(Index index, std::span<const T> from, bool is_dense, Change change) {
        require_writable();
        constexpr bool is_direct = std::is_same_v<Change, Write> || detail::is_atomic_element<T>;
        std::vector<Far> far(has_far_ || !is_direct ? near_.size() : 0);
        for_runs(index, from.size(), is_dense,
                 [&](const ArrayLayout::Place& at, std::size_t i, std::size_t count) {
                     T* const to = is_cached() ? nullptr : direct(at);
                     if (to == nullptr || !(is_direct || at.rank == own_)) {
                         far[static_cast<std::size_t>(at.rank)].add(at, i, count);
                         return;
                     }
                     for (std::size_t k = 0; k < count; ++k) {
                         change(to[k], from[i + k]);
                     }
                 });
        co_await for_far(far, [this, from, &change](Rank rank, const Far& of) -> Task<> {
            std::vector<T> values;
            values.reserve(of.positions.size());
            for (const std::size_t position : of.positions) {
                values.push_back(from[position]);
            }
            if (is_cached()) {
                co_await change.call_cached(part_.on(rank), of.offsets, std::move(values));
            } else {
                co_await change.call(part_.on(rank), of.offsets, std::move(values));
            }
        });
    }
    template <class Each>
    static Task<> for_far(const std::vector<Far>& far, const Each& each) {
        if (far.empty()) {
            co_return;
        }
        const auto call_all = [&] {
            for (std::size_t rank = 0; rank < far.size(); ++rank) {
                if (far[rank].offsets.count != 0) {
                    static_cast<void>(spawn(each(static_cast<Rank>(rank), far[rank])));
                }
            }
        };
        co_await detail::finish_whole(call_all, "other ranks' parts of an array");
    }

    [[nodiscard]] bool has_replicas() const noexcept {
        return size() != 0 && (has_far_ || has_others_);
    }
    /// The rank whose memory has the copy of this rank's group.
    [[nodiscard]] Rank leader() const noexcept { return mates_.front(); }
    Task<> replicate() {
        const Rank first = leader();
        if (first == own_) {
            replica_memory_ = detail::PartMemory(size() * sizeof(T));
            part_->set_replica(replica_memory_.name());
        }
        co_await sync();
        if (first != own_) {
            replica_memory_ =
                detail::PartMemory(co_await part_.on(first).template call<&Part::replica>());
        }
        const std::span copy(reinterpret_cast<T*>(replica_memory_.data()), size());
        const std::size_t members = mates_.size();
        const auto number =
            static_cast<std::size_t>(std::ranges::find(mates_, own_) - mates_.begin());
        const std::size_t begin = size() * number / members;
        const std::size_t end = size() * (number + 1) / members;
        co_await get(begin, copy.subspan(begin, end - begin));
        co_await sync();
        replica_ = copy;
    }

    void require(std::size_t index) const {
        if (index >= size()) [[unlikely]] {
            refuse("the array has " + std::to_string(size()) + " elements, but no element " +
                   std::to_string(index));
        }
    }
    void require(std::size_t first, std::size_t count, std::size_t stride) const {
        if (count != 0) {
            require(first);
            if (stride != 0 && (count - 1) > (size() - 1 - first) / stride) {
                refuse("the array has " + std::to_string(size()) + " elements, too few for " +
                       std::to_string(count) + " from " + std::to_string(first) +
                       " on by steps of " + std::to_string(stride));
            }
        }
    }
    void require(std::span<const std::size_t> indices, std::size_t count) const {
        if (indices.size() != count) {
            refuse("there are " + std::to_string(indices.size()) + " indices for " +
                   std::to_string(count) + " values");
        }
        std::ranges::for_each(indices, [this](std::size_t index) { require(index); });
    }
    void require_writable() const {
        if (is_frozen_) [[unlikely]] {
            refuse("the array is frozen: thaw it, on all ranks, before you write");
        }
    }
    [[noreturn]] static void refuse(const std::string& text) {
        throw Error(Errc::invalid_argument, text);
    }

    ArrayLayout layout_;
    Rank own_;
    std::optional<detail::CopiesPlace> copies_;
    Distributed<Part> part_;
    detail::NamedObject elements_; ///< What `element` points to.
    std::unique_ptr<RankBarrier> barrier_;
    std::vector<std::span<T>> near_; ///< By rank; empty: not reached directly.
    std::vector<detail::PartMemory> opened_;
    std::vector<Rank> mates_{own_}; ///< Those that share copies with this rank, and it.
    bool has_others_ = false;       ///< There are others, and the placement is replicated.
    bool has_far_ = false;          ///< Elements of some ranks are reached by calls.
    bool is_frozen_ = false;
    detail::PartMemory replica_memory_;
    std::span<T> replica_; ///< By index; empty: there is none.
};

} // namespace corymb

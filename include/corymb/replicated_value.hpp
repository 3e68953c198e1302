// SPDX-License-Identifier: Apache-2.0
// The other mode of replicated objects: one rank has the object, and others keep copies of it until
// it changes. docs/reference/shared.md says what readers may see.
#pragma once

#include <corymb/detail/now_or_later.hpp>
#include <corymb/detail/recall.hpp>
#include <corymb/detail/replica_operation.hpp>
#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/memory_use.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote.hpp>
#include <corymb/replicated.hpp>
#include <corymb/task.hpp>
#include <corymb/when.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace corymb {

struct ReplicatedValueOptions {
    Rank home = 0; ///< Has the object. The same on all ranks.
    /// The longest time that a read or an update waits for other ranks. 0: as long as they take.
    std::chrono::nanoseconds limit{0};
};

namespace detail {

/// The object of a home, as it travels to a reader.
template <class T>
struct HandedValue {
    bool may_keep = false;
    const T* at_home = nullptr;
    std::optional<T> come{}; ///< At the reader.
};

/// A rank's part of a replicated value.
template <class T>
class ValuePart {
public:
    explicit ValuePart(std::shared_ptr<Copies> copies) noexcept : copies_(std::move(copies)) {}
    static constexpr Piece piece = 0;

    /// Null: this is not the home.
    [[nodiscard]] T* object() const noexcept { return object_.get(); }
    void set(T&& initial) { object_ = std::make_unique<T>(std::move(initial)); }
    [[nodiscard]] T& require_object() const {
        if (object_ == nullptr) {
            throw Error(Errc::mismatch,
                        "rank " + std::to_string(here()) +
                            " is not the home of the replicated object: name one home on all ranks",
                        {here()});
        }
        return *object_;
    }
    [[nodiscard]] HandedValue<T> hand_out(Rank to) const {
        const T& object = require_object();
        return {copies_->hand_out(piece, to), &object, {}};
    }
    [[nodiscard]] Copies& copies() const noexcept { return *copies_; }

private:
    std::shared_ptr<Copies> copies_;
    std::unique_ptr<T> object_;
};

/// An operation as it travels to the home.
template <class T, class Op, class... A>
struct ChangeOfValue {
    using Result = std::remove_cvref_t<std::invoke_result_t<Op&, T&, A...>>;
    Op op;
    Task<Result> operator()(ValuePart<T>& part, A... arguments) const {
        return change(part, op, std::move(arguments)...);
    }
    static Task<Result> change(ValuePart<T>& part, Op op, A... arguments) {
        T& object = part.require_object();
        std::vector<Piece> pieces(1, part.piece);
        const auto apply = [&]() -> Result {
            return std::invoke(op, object, std::move(arguments)...);
        };
        co_return co_await part.copies().change(std::move(pieces), apply);
    }
};

} // namespace detail

/// One object, which one rank has, its home. A rank that reads it keeps a copy, which an update
/// drops: the next read fetches the object again. So an update sends no more than itself, and one
/// word to each rank that has read since the last one. Ranks may be on several nodes. Movable, must
/// outlive its operations; for the thread of its rank.
///
/// T travels as RemoteCodec says. Each copy is one of a rank.
template <class T>
class Replicated<T, ReplicatedMode::invalidate> {
    template <class Op, class... Arguments>
    using Change = detail::ChangeOfValue<T, Op, detail::Sent<Arguments>...>;

public:
    using Options = ReplicatedValueOptions;

    /// For co_await, on all ranks: `initial` counts on the home. Names as Distributed. Sends
    /// nothing: early calls wait. Throws Errc::invalid_argument if there is no such rank.
    [[nodiscard]] static Task<Replicated> make(std::string name, T initial = T(),
                                               Options options = {}) {
        if (options.home < 0 || options.home >= ranks()) {
            throw Error(Errc::invalid_argument, "there is no rank " + std::to_string(options.home) +
                                                    " to be the home of a replicated object");
        }
        co_return Replicated(name, std::move(initial), options);
    }

    /// For co_await: what f(object) gives; `f` is called with the object as const, neither waits
    /// nor keeps a pointer into it. Linearizable: sees each update that had returned before.
    ///
    /// If this rank has a copy, `f` is called at once and nothing is sent. Otherwise one call
    /// fetches the object. Throws what `f` throws; Errc::team_broken, naming the home, if that has
    /// gone; Errc::timeout at the limit; Errc::interrupted; Errc::mismatch if the other rank is no
    /// home.
    template <class F>
    [[nodiscard]] auto read_latest(F f) const
        -> detail::NowOrLater<std::decay_t<std::invoke_result_t<F&, const T&>>> {
        const T* const object = part_->object();
        const T* const at_hand =
            object != nullptr ? object : part_->copies().template find<T>(Part::piece);
        if (at_hand != nullptr) {
            return detail::now([&] { return std::invoke(f, *at_hand); });
        }
        return read_later(copies_.copies(), part_.on(options_.home), std::move(f), options_.limit);
    }

    /// For co_await: changes the object by op(object, arguments...) on its home, where it runs as a
    /// whole, and gives its result. `op`, arguments and result travel as those of a call.
    ///
    /// Linearizable. It waits until all ranks with a copy have dropped it, which they do between
    /// two turns of tasks; one that has gone has none. Throws what `op` throws, and then what it
    /// has changed stays; else as `read_latest`. After Errc::timeout and Errc::interrupted it may
    /// or may not be done.
    template <class Op, class... Arguments>
        requires std::is_invocable_v<Op&, T&, detail::Sent<Arguments>...>
    [[nodiscard]] auto update(Op op, Arguments&&... arguments)
        -> detail::NowOrLater<typename Change<Op, Arguments...>::Result> {
        static_assert(detail::is_object_that_travels<Op>());
        static_assert(detail::is_object_that_travels<Change<Op, Arguments...>>());
        static_assert(!detail::is_task<typename Change<Op, Arguments...>::Result>,
                      "an operation runs as a whole: it can be no task");
        T* const object = part_->object();
        if (object != nullptr && !part_->copies().is_kept(Part::piece)) {
            return detail::now([&] {
                return std::invoke(op, *object,
                                   detail::Sent<Arguments>(std::forward<Arguments>(arguments))...);
            });
        }
        return call<Change<Op, Arguments...>, detail::Sent<Arguments>...>(
            part_.on(options_.home), {std::move(op)}, options_.limit,
            std::forward<Arguments>(arguments)...);
    }
    /// As the other `update`, for a method that is named: update<&T::insert>(arguments...).
    template <auto Method, class... Arguments>
    [[nodiscard]] auto update(Arguments&&... arguments) {
        return update(detail::ReplicaMethod<Method>(), std::forward<Arguments>(arguments)...);
    }

    /// Whether this rank would read without a message.
    [[nodiscard]] bool is_here() const noexcept {
        return part_->object() != nullptr ||
               part_->copies().template find<T>(Part::piece) != nullptr;
    }
    /// The object, on its home, and a copy have the bytes that travel.
    [[nodiscard]] MemoryUse memory() const {
        const T* const object = part_->object();
        return {object == nullptr ? 0 : RemoteCodec<T>::size(*object), part_->copies().kept_bytes(),
                sizeof *this + sizeof(Part) + part_->copies().overhead()};
    }

private:
    using Part = detail::ValuePart<T>;
    Replicated(const std::string& name, T&& initial, const Options& options)
        : copies_(name + " (copies)", std::numeric_limits<std::size_t>::max()),
          part_(name, copies_.copies()), options_(options) {
        if (options.home == here()) {
            part_->set(std::move(initial));
        }
    }

    template <class F, class... A>
    static auto call(Remote<Part> on, F f, std::chrono::nanoseconds limit, A... arguments)
        -> Task<typename detail::ResultOf<std::invoke_result_t<F&, Part&, A...>>::Type> {
        if (limit.count() != 0) {
            co_return co_await within(
                limit, call<F, A...>(on, f, std::chrono::nanoseconds(0), std::move(arguments)...));
        }
        co_return co_await on.call(f, std::move(arguments)...);
    }
    struct HandOut {
        detail::HandedValue<T> operator()(Part& part, Rank to) const { return part.hand_out(to); }
    };
    template <class F>
    static auto read_later(std::shared_ptr<detail::Copies> copies, Remote<Part> home, F f,
                           std::chrono::nanoseconds limit)
        -> Task<std::decay_t<std::invoke_result_t<F&, const T&>>> {
        detail::Copies::Fetch fetch(copies, Part::piece);
        detail::HandedValue<T> handed =
            co_await call<HandOut, Rank>(home, HandOut(), limit, here());
        const auto copy = std::make_shared<const T>(std::move(*handed.come));
        if (handed.may_keep) {
            fetch.keep(copy, RemoteCodec<T>::size(*copy));
        }
        co_return std::invoke(f, *copy);
    }

    detail::CopiesPlace copies_;
    Distributed<Part> part_;
    Options options_;
};

} // namespace corymb

template <class T>
struct corymb::RemoteCodec<corymb::detail::HandedValue<T>> {
    using Handed = detail::HandedValue<T>;
    static const T& value(const Handed& of) noexcept {
        return of.at_home != nullptr ? *of.at_home : *of.come;
    }
    static std::size_t size(const Handed& of) {
        return sizeof(bool) + RemoteCodec<T>::size(value(of));
    }
    static void write(RemoteWriter& to, const Handed& of) {
        detail::write_all(to, of.may_keep, value(of));
    }
    static Handed read(RemoteReader& from) {
        Handed come;
        come.may_keep = RemoteCodec<bool>::read(from);
        come.come.emplace(RemoteCodec<T>::read(from));
        return come;
    }
};

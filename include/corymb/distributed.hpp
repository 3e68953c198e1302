// SPDX-License-Identifier: Apache-2.0
// Objects of one name on all ranks, found without a message.
#pragma once

#include <corymb/export.hpp>
#include <corymb/rank.hpp>
#include <corymb/remote_object.hpp>

#include <memory>
#include <string_view>
#include <typeinfo>
#include <utility>

namespace corymb {

namespace detail {
/// Keeps an object in the table of this rank, by its name.
class CORYMB_EXPORT NamedObject {
public:
    /// In a task. Throws Errc::invalid_argument if an object of this rank has that name.
    NamedObject(std::string_view name, const NewObject& object);
    NamedObject(NamedObject&& other) noexcept = default;
    NamedObject& operator=(NamedObject&& other) noexcept;
    ~NamedObject();
    /// The one of the same name on rank `on`.
    [[nodiscard]] RemoteId id(Rank on) const noexcept {
        return {on, id_.slot, id_.generation, id_.group, 0};
    }

private:
    void remove() noexcept;
    std::weak_ptr<RemoteState> here_; ///< Null once the rank has left.
    RemoteId id_;
};
} // namespace detail

/// This rank's object, and the way to those of the same name on the other ranks. All ranks make the
/// same ones, by the same names, in their own tasks; names and not the order say which belong
/// together, since tasks of a rank may take turns in any order. A name may be used again once its
/// object is gone: the second object of a name on one rank belongs to the second on the others.
///
/// A call that comes before its rank has made the object waits there. It fails with
/// Errc::team_broken if the rank leaves or its process ends, and with Errc::invalid_argument if the
/// rank's task has ended (RemoteRank::run) without making it.
///
/// The object lives until the Distributed ends and the calls of it that run have ended, or the rank
/// leaves. Later calls are refused with Errc::invalid_argument: meet before you end one that others
/// may call. A rank remembers the names that it has used. Movable; for the thread of its rank.
template <class T>
class Distributed {
public:
    /// In a task of a RemoteRank: makes this rank's T of the arguments. Sends nothing. Throws
    /// Errc::invalid_argument if this rank has an object of that name already, outside of tasks,
    /// and if the name has the hash of another one; what the constructor of T throws.
    template <class... Arguments>
    explicit Distributed(std::string_view name, Arguments&&... arguments)
        : Distributed(name, std::make_unique<T>(std::forward<Arguments>(arguments)...)) {}

    /// This rank's.
    [[nodiscard]] T& local() const noexcept { return *object_; }
    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }

    /// A pointer to the object on that rank, which may not be there yet. It is a value as others:
    /// it may be sent, stored and compared. It cannot be destroyed.
    [[nodiscard]] Remote<T> on(Rank rank) const noexcept {
        return detail::RemoteAccess::pointer<T>(place_.id(rank));
    }

private:
    Distributed(std::string_view name, std::unique_ptr<T> made)
        : object_(made.get()),
          place_(name, {object_, &typeid(T), sizeof(T), 1,
                        [](void* object) { delete static_cast<T*>(object); }, is_exclusive<T>}) {
        static_cast<void>(made.release());
    }
    T* object_;
    detail::NamedObject place_;
};

} // namespace corymb

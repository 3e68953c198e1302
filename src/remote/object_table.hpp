// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "remote/hold.hpp"
#include "remote/object_lock.hpp"
#include "remote/routes.hpp"

#include <corymb/error.hpp>
#include <corymb/remote_object.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

namespace corymb::detail {

inline constexpr const char* object_is_gone = "the object that the pointer was to is gone";

/// A named object that this rank has not made yet.
class ObjectExpected final : public Error {
public:
    ObjectExpected(const RemoteId& expected, const std::type_info& type);
    [[nodiscard]] const RemoteId& id() const noexcept { return id_; }

private:
    RemoteId id_;
};

/// The objects of one rank that others may have pointers to. A place is used again with another
/// generation, so an old pointer finds nothing. A pointer to a named object says the name and how
/// many objects of that name came before, so each rank can make it without asking.
class ObjectTable {
public:
    explicit ObjectTable(Rank own, std::uint32_t group) noexcept : rank_(own), group_(group) {}
    ObjectTable(const ObjectTable&) = delete;
    ObjectTable& operator=(const ObjectTable&) = delete;
    ~ObjectTable();

    RemoteId add(const NewObject& object);
    /// An object that another rank, or this one, has made before, and that has moved so often.
    void add_guest(const RemoteId& id, const NewObject& object, std::uint32_t moves);
    /// Throws Errc::invalid_argument if an object of this rank has that name, or if another name
    /// has the same hash.
    RemoteId add_named(std::string_view name, const NewObject& object);
    struct Use {
        void* object;
        std::uint32_t slot; ///< For `let_go` and `lock`.
        bool is_exclusive;
    };
    /// The object, or its part, as `count` of `type`, which are used from here on. Throws
    /// Errc::invalid_argument, and ObjectExpected.
    [[nodiscard]] Use use(const RemoteId& id, const std::type_info& type, std::size_t count);
    /// For an object that is used. Is made when it is first asked for.
    [[nodiscard]] ObjectLock& lock(std::uint32_t slot) {
        auto& found = places_[slot].lock;
        if (found == nullptr) {
            found = std::make_unique<ObjectLock>();
        }
        return *found;
    }
    /// Where a part lies in the object that it belongs to, in bytes.
    [[nodiscard]] std::uint64_t offset_of(std::uint32_t slot, const void* part) const noexcept;
    /// A use is over; ends the object if it was removed meanwhile.
    void let_go(std::uint32_t slot) noexcept;
    /// Throws Errc::invalid_argument, also for a named object.
    void remove(const RemoteId& id);
    static constexpr std::uint32_t no_slot = 0xffff'ffff;
    /// The slot of an object that is on this rank, and not named; else no_slot.
    [[nodiscard]] std::uint32_t find(const RemoteId& id) const noexcept;
    /// How often an object that is here has moved.
    [[nodiscard]] std::uint32_t moves(std::uint32_t slot) const noexcept {
        return places_[slot].moves;
    }
    [[nodiscard]] std::uint32_t uses(std::uint32_t slot) const noexcept {
        return places_[slot].uses;
    }
    [[nodiscard]] const NewObject& whole(std::uint32_t slot) const noexcept {
        return places_[slot].object;
    }
    /// Keeps calls back; null: it does not. An object that goes takes its hold along.
    void set_hold(std::uint32_t slot, std::shared_ptr<Hold> hold) noexcept;
    [[nodiscard]] Hold* hold(std::uint32_t slot) const noexcept { return places_[slot].hold.get(); }
    [[nodiscard]] std::shared_ptr<Hold> take_hold(std::uint32_t slot) noexcept;
    /// Takes an object out that is there.
    void remove_whole(std::uint32_t slot) noexcept;
    /// Those that have come from that rank and may not be called yet.
    [[nodiscard]] std::vector<RemoteId> arriving_from(Rank from) const;
    /// Whether no object has come from elsewhere, and none is held.
    [[nodiscard]] bool is_still() const noexcept { return guests_.empty() && holds_ == 0; }
    /// `see(hold)` for each.
    void for_each_hold(const auto& see) {
        if (holds_ == 0) {
            return;
        }
        for (Place& place : places_) {
            if (place.hold != nullptr) {
                see(*place.hold);
            }
        }
    }
    /// Takes out a named object that is there.
    void remove_named(const RemoteId& id) noexcept;
    /// Throws Errc::invalid_argument for a pointer to nothing, and for one of another group.
    void require_of_group(const RemoteId& id) const {
        if (id.rank < 0 || id.group != group_) [[unlikely]] {
            refuse_foreign(id);
        }
    }
    /// Whether `use` would throw no ObjectExpected.
    [[nodiscard]] bool is_made(const RemoteId& id) const {
        return !id.is_named() || is_named_made(id);
    }
    /// Calls `see(slot, object, lock)` for each object that has a lock.
    void for_each_lock(const auto& see) const {
        for (std::uint32_t slot = 0; slot < places_.size(); ++slot) {
            if (places_[slot].lock != nullptr) {
                see(slot, places_[slot].object, std::as_const(*places_[slot].lock));
            }
        }
    }
    /// The mark of the ranks' group.
    [[nodiscard]] std::uint32_t group() const noexcept { return group_; }

private:
    struct Place {
        NewObject object;
        std::uint32_t generation = 0;
        std::uint32_t uses = 0;
        bool is_there = false; ///< Pointers find it.
        std::uint32_t moves = 0;
        RemoteId guest; ///< Its name, if it has come from elsewhere.
        std::shared_ptr<Hold> hold;
        std::unique_ptr<ObjectLock> lock; ///< Null: no call has needed it.
    };
    struct Name {
        std::string text;
        std::uint32_t made = 0; ///< Objects of this name so far.
        std::uint32_t slot = 0; ///< The last one's; `no_slot`: it is gone.
    };
    [[noreturn]] static void refuse_foreign(const RemoteId& id);
    [[nodiscard]] bool is_named_made(const RemoteId& id) const;
    /// Where the object is. Throws as `use`.
    [[nodiscard]] std::uint32_t slot_of(const RemoteId& id, const std::type_info& type) const;
    [[nodiscard]] std::uint32_t named_slot(const RemoteId& id, const std::type_info& type) const;
    [[nodiscard]] std::uint32_t take_slot();
    void clear(std::uint32_t slot) noexcept;

    Rank rank_;
    std::uint32_t group_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::uint32_t, Name> names_; ///< By hash; for ever.
    std::unordered_map<RemoteId, std::uint32_t, WholeHash> guests_;
    std::size_t holds_ = 0;
};

} // namespace corymb::detail

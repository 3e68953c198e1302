// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/error.hpp>
#include <corymb/remote_object.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <typeinfo>
#include <unordered_map>
#include <vector>

namespace corymb::detail {

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

    RemoteId add(void* object, const std::type_info& type, Delete end);
    /// Throws Errc::invalid_argument if an object of this rank has that name, or if another name
    /// has the same hash.
    RemoteId add_named(std::string_view name, void* object, const std::type_info& type, Delete end);
    struct Use {
        void* object;
        std::uint32_t slot; ///< For `let_go`.
    };
    /// The object as a `type`, which is used from here on. Throws Errc::invalid_argument, and
    /// ObjectExpected.
    [[nodiscard]] Use use(const RemoteId& id, const std::type_info& type);
    /// A use is over; ends the object if it was removed meanwhile.
    void let_go(std::uint32_t slot) noexcept;
    /// Throws Errc::invalid_argument, also for a named object.
    void remove(const RemoteId& id);
    /// Takes out a named object that is there.
    void remove_named(const RemoteId& id) noexcept;
    /// The mark of the ranks' group.
    [[nodiscard]] std::uint32_t group() const noexcept { return group_; }
    [[nodiscard]] bool is_own(const RemoteId& id) const noexcept {
        return id.rank == rank_ && id.group == group_;
    }

private:
    struct Place {
        void* object = nullptr;
        const std::type_info* type = nullptr;
        Delete end = nullptr;
        std::uint32_t generation = 0;
        std::uint32_t uses = 0;
        bool is_there = false; ///< Pointers find it.
    };
    struct Name {
        std::string text;
        std::uint32_t made = 0; ///< Objects of this name so far.
        std::uint32_t slot = 0; ///< The last one's; `no_slot`: it is gone.
    };
    static constexpr std::uint32_t no_slot = 0xffff'ffff;
    /// Where the object is. Throws as `use`.
    [[nodiscard]] std::uint32_t slot_of(const RemoteId& id, const std::type_info& type) const;
    [[nodiscard]] std::uint32_t named_slot(const RemoteId& id, const std::type_info& type) const;
    void remove_slot(std::uint32_t slot) noexcept;
    void clear(std::uint32_t slot) noexcept;

    Rank rank_;
    std::uint32_t group_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;
    std::unordered_map<std::uint32_t, Name> names_; ///< By hash; for ever.
};

} // namespace corymb::detail

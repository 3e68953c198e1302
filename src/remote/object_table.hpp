// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <corymb/remote_object.hpp>

#include <cstdint>
#include <typeinfo>
#include <vector>

namespace corymb::detail {

/// The objects of one rank that others may have pointers to. A place is used again with another
/// generation, so an old pointer finds nothing.
class ObjectTable {
public:
    explicit ObjectTable(Rank own, std::uint32_t group) noexcept : rank_(own), group_(group) {}
    ObjectTable(const ObjectTable&) = delete;
    ObjectTable& operator=(const ObjectTable&) = delete;
    ~ObjectTable();

    RemoteId add(void* object, const std::type_info& type, Delete end);
    /// The object as a `type`, which is used from here on. Throws Errc::invalid_argument.
    [[nodiscard]] void* use(const RemoteId& id, const std::type_info& type);
    /// A use is over; ends the object if it was removed meanwhile.
    void let_go(std::uint32_t slot) noexcept;
    /// Throws Errc::invalid_argument.
    void remove(const RemoteId& id);
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
    [[nodiscard]] Place& place(const RemoteId& id);
    void clear(std::uint32_t slot) noexcept;

    Rank rank_;
    std::uint32_t group_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;
};

} // namespace corymb::detail

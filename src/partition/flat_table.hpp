// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::partition {

/// Values by 32-bit keys below 2^32 - 1, in open addressing. Is used again and again for few keys:
/// clearing costs what was entered, and keys are visited in the order in which they came.
template <class Value>
class FlatTable {
public:
    explicit FlatTable(std::size_t expected = 8) { reset(capacity_for(expected)); }

    /// The value of the key, which is Value() before the first access.
    Value& operator[](std::uint32_t key) {
        if (2 * (entered_.size() + 1) > keys_.size()) {
            grow();
        }
        const std::size_t slot = slot_of(key);
        if (keys_[slot] == none) {
            keys_[slot] = key;
            values_[slot] = Value();
            entered_.push_back(static_cast<std::uint32_t>(slot));
        }
        return values_[slot];
    }
    /// Null: the key was not entered.
    [[nodiscard]] const Value* find(std::uint32_t key) const noexcept {
        const std::size_t slot = slot_of(key);
        return keys_[slot] == none ? nullptr : &values_[slot];
    }
    [[nodiscard]] std::size_t size() const noexcept { return entered_.size(); }
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const std::uint32_t slot : entered_) {
            visit(keys_[slot], values_[slot]);
        }
    }
    void clear() noexcept {
        for (const std::uint32_t slot : entered_) {
            keys_[slot] = none;
        }
        entered_.clear();
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    static std::size_t capacity_for(std::size_t count) noexcept {
        std::size_t capacity = 16;
        while (capacity < 2 * count) {
            capacity *= 2;
        }
        return capacity;
    }
    void reset(std::size_t capacity) {
        keys_.assign(capacity, none);
        values_.assign(capacity, Value());
        entered_.clear();
    }
    [[nodiscard]] std::size_t slot_of(std::uint32_t key) const noexcept {
        std::size_t slot = (key * 0x9e3779b97f4a7c15u >> 32) & (keys_.size() - 1);
        while (keys_[slot] != none && keys_[slot] != key) {
            slot = (slot + 1) & (keys_.size() - 1);
        }
        return slot;
    }
    void grow() {
        std::vector<std::pair<std::uint32_t, Value>> kept;
        kept.reserve(entered_.size());
        for_each([&](std::uint32_t key, const Value& value) { kept.emplace_back(key, value); });
        reset(2 * keys_.size());
        for (const auto& [key, value] : kept) {
            (*this)[key] = value;
        }
    }

    std::vector<std::uint32_t> keys_;
    std::vector<Value> values_;
    std::vector<std::uint32_t> entered_; ///< Slots in the order of entry.
};

} // namespace corymb::partition

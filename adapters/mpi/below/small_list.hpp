// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace corymb::mpi {

/// A list with room for a number of entries that is known before the first; `N` of them lie within
/// it. Lists of a few ranks are made at each call, where allocating them would take longer than the
/// operation.
template <class T, std::size_t N>
class SmallList {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    SmallList() noexcept {} // NOLINT(modernize-use-equals-default): leaves small_ as it is.
    SmallList(const SmallList&) = delete;
    SmallList& operator=(const SmallList&) = delete;
    SmallList(SmallList&& other) noexcept
        : size_(other.size_), capacity_(other.capacity_), many_(std::move(other.many_)) {
        take_small(other);
    }
    SmallList& operator=(SmallList&& other) noexcept {
        size_ = other.size_;
        capacity_ = other.capacity_;
        many_ = std::move(other.many_);
        take_small(other);
        return *this;
    }
    ~SmallList() = default;

    /// Makes room in an empty list, once; throws std::bad_alloc.
    void reserve(std::size_t entries) {
        if (entries > N) {
            many_ = std::make_unique_for_overwrite<T[]>(entries);
            capacity_ = entries;
        }
    }
    /// Needs room.
    void push_back(const T& entry) noexcept { data()[size_++] = entry; }

    void clear() noexcept { size_ = 0; }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept {
        return capacity_ > N ? many_.get() : std::launder(reinterpret_cast<T*>(small_));
    }
    [[nodiscard]] const T* data() const noexcept {
        return capacity_ > N ? many_.get() : std::launder(reinterpret_cast<const T*>(small_));
    }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }

private:
    void take_small(SmallList& other) noexcept {
        if (capacity_ == N) {
            std::memcpy(small_, other.small_, size_ * sizeof(T));
        }
        other.size_ = 0;
        other.capacity_ = N;
    }

    std::size_t size_ = 0;
    std::size_t capacity_ = N;
    std::unique_ptr<T[]> many_;
    alignas(T) std::byte small_[N * sizeof(T)]; // Only entries that were put there are read.
};

} // namespace corymb::mpi

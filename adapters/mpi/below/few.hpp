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
class Few {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Few() noexcept {} // NOLINT(modernize-use-equals-default): leaves few_ as it is.
    Few(const Few&) = delete;
    Few& operator=(const Few&) = delete;
    Few(Few&& other) noexcept
        : size_(other.size_), capacity_(other.capacity_), many_(std::move(other.many_)) {
        take_few(other);
    }
    Few& operator=(Few&& other) noexcept {
        size_ = other.size_;
        capacity_ = other.capacity_;
        many_ = std::move(other.many_);
        take_few(other);
        return *this;
    }
    ~Few() = default;

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
        return capacity_ > N ? many_.get() : std::launder(reinterpret_cast<T*>(few_));
    }
    [[nodiscard]] const T* data() const noexcept {
        return capacity_ > N ? many_.get() : std::launder(reinterpret_cast<const T*>(few_));
    }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }

private:
    void take_few(Few& other) noexcept {
        if (capacity_ == N) {
            std::memcpy(few_, other.few_, size_ * sizeof(T));
        }
        other.size_ = 0;
        other.capacity_ = N;
    }

    std::size_t size_ = 0;
    std::size_t capacity_ = N;
    std::unique_ptr<T[]> many_;
    alignas(T) std::byte few_[N * sizeof(T)]; // Only entries that were put there are read.
};

} // namespace corymb::mpi

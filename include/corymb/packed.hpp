// SPDX-License-Identifier: Apache-2.0
// Data that does not lie in one piece: a column, a face of a grid, the members of objects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

namespace corymb {

/// The way of `count` elements out of their places and back. Team packs them into memory of its own
/// before an operation and unpacks them afterwards. So it needs memory for all of them once more,
/// and input and output may share their places.
template <class T>
struct Packed {
    std::size_t count = 0;
    /// Copies all elements out, in their order. Needed for a buffer that is read.
    std::function<void(std::span<T> to)> pack;
    /// Copies all elements back, in their order. Needed for a buffer that is written.
    std::function<void(std::span<const T> from)> unpack;
};

/// `runs` runs of `length` elements, which begin `stride` elements apart; what MPI calls a vector
/// type. A column of a matrix of rows of n elements: strided(&matrix[0][c], rows, 1, n).
template <class T>
[[nodiscard]] Packed<T> strided(T* first, std::size_t runs, std::size_t length,
                                std::size_t stride) {
    Packed<T> made;
    made.count = runs * length;
    made.pack = [=](std::span<T> to) {
        for (std::size_t run = 0; run < runs; ++run) {
            std::copy_n(first + run * stride, length, to.data() + run * length);
        }
    };
    made.unpack = [=](std::span<const T> from) {
        for (std::size_t run = 0; run < runs; ++run) {
            std::copy_n(from.data() + run * length, length, first + run * stride);
        }
    };
    return made;
}

/// As the other `strided`, for elements that are only read.
template <class T>
[[nodiscard]] Packed<T> strided(const T* first, std::size_t runs, std::size_t length,
                                std::size_t stride) {
    Packed<T> made = strided(const_cast<T*>(first), runs, length, stride);
    made.unpack = nullptr;
    return made;
}

} // namespace corymb

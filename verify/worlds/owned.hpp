// SPDX-License-Identifier: Apache-2.0
// An object whose variable part follows it, as it lies in an arena.
#pragma once

#include "explorer/env.hpp"

#include <cstddef>
#include <new>

namespace corymb::verify {

template <class T, std::size_t Bytes>
struct Owned {
    alignas(128) std::byte memory[Bytes];
    T& object;

    template <class Shape>
    explicit Owned(const Shape& shape) : object(*new(memory) T(shape)) {
        require(T::bytes(shape) <= Bytes, "the world has enough memory");
    }
};

} // namespace corymb::verify

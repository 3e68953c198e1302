// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.hpp"
#include "host.hpp"

#include <array>
#include <cstddef>

namespace corymb::mpi {

/// What a call says beside its communicator and where its buffers lie. While its datatypes are
/// predefined, all that decides who does it follows from that: handles of the program's may be used
/// again for something else.
struct Shape {
    std::array<MPI_Count, 2> counts{};
    std::array<MPI_Datatype, 2> types{};
    MPI_Op op{};
    int root = 0;
    bool is_in_place = false;

    bool operator==(const Shape&) const = default;
};

/// Of each operation the last blocking call that was left to the MPI, since that is faster.
class LeftCalls {
public:
    /// What `keep` was given for the last call, if that was of this shape; else null.
    [[nodiscard]] const std::size_t* find(Operation operation, const Shape& shape) const noexcept {
        const Left& last = last_[index_of(operation)];
        return last.exists && last.shape == shape ? &last.place : nullptr;
    }
    void keep(Operation operation, const Shape& shape, std::size_t place) noexcept {
        last_[index_of(operation)] = {true, shape, place};
    }

private:
    struct Left {
        bool exists = false;
        Shape shape;
        std::size_t place = 0;
    };
    static constexpr std::size_t index_of(Operation operation) noexcept {
        return static_cast<std::size_t>(operation);
    }
    std::array<Left, static_cast<std::size_t>(Operation::exscan) + 1> last_{};
};

} // namespace corymb::mpi

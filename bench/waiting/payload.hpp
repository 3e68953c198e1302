// SPDX-License-Identifier: Apache-2.0
// One rank's data in a cell: written anew for each call, and read whole after it.
#pragma once

#include "../threads/worker/tasks.hpp"
#include "cell.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace corymb::bench {

/// All elements of a part are alike: the call's value, and a number of the part. So sums are exact,
/// and a part that went astray shows.
class CellPayload {
public:
    CellPayload(const Cell& cell, int rank)
        : cell_(cell), rank_(rank), input_(most(&Cell::input_parts) * cell.count()),
          output_(most(&Cell::output_parts) * cell.count()) {}

    [[nodiscard]] std::span<const double> input(int root) const noexcept {
        return input_.span().first(cell_.input_parts(rank_, root) * cell_.count());
    }
    [[nodiscard]] std::span<double> output(int root) const noexcept {
        return output_.span().first(cell_.output_parts(rank_, root) * cell_.count());
    }

    void write(std::uint64_t call, int root) const noexcept {
        for (std::size_t i = 0; i < cell_.input_parts(rank_, root); ++i) {
            std::ranges::fill(part(input_, i), value_of(call) + input_number(i));
        }
    }
    [[nodiscard]] bool is_right(std::uint64_t call, int root) const noexcept {
        for (std::size_t i = 0; i < cell_.output_parts(rank_, root); ++i) {
            if (!are_all(part(output_, i), wanted(call, i))) {
                return false;
            }
        }
        return true;
    }

private:
    using Parts = std::size_t (Cell::*)(int, int) const noexcept;
    /// As root and as another rank.
    [[nodiscard]] std::size_t most(Parts parts) const noexcept {
        return std::max((cell_.*parts)(rank_, rank_), (cell_.*parts)(rank_, rank_ + 1));
    }
    [[nodiscard]] std::span<double> part(const Payload& of, std::size_t index) const noexcept {
        return of.span().subspan(index * cell_.count(), cell_.count());
    }
    [[nodiscard]] double input_number(std::size_t index) const noexcept {
        const double own = rank_;
        switch (cell_.op) {
        case WaitingOp::alltoall: return own * cell_.ranks + static_cast<double>(index);
        case WaitingOp::scatter: return static_cast<double>(index);
        case WaitingOp::reduce:
        case WaitingOp::allreduce:
        case WaitingOp::gather: return own;
        default: return 0;
        }
    }
    [[nodiscard]] double wanted(std::uint64_t call, std::size_t index) const noexcept {
        const double value = value_of(call), own = rank_, ranks = cell_.ranks;
        switch (cell_.op) {
        case WaitingOp::reduce:
        case WaitingOp::allreduce: return ranks * value + ranks * (ranks - 1) / 2;
        case WaitingOp::scatter: return value + own;
        case WaitingOp::gather: return value + static_cast<double>(index);
        case WaitingOp::alltoall: return value + static_cast<double>(index) * ranks + own;
        default: return value;
        }
    }

    Cell cell_;
    int rank_;
    Payload input_, output_;
};

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Calls, bytes and time by operation, and the library that did them, for the summary at
// MPI_Finalize.
#pragma once

#include "below/call.hpp"
#include "communicator/reasons.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

namespace corymb::mpi {

struct Communicator;

/// The account of one communicator. Kept up only where is_explaining().
class Account {
public:
    struct Row {
        std::uint64_t calls = 0;
        std::uint64_t bytes = 0;
        std::int64_t ns = 0;
    };
    using Key = std::tuple<Operation, Form, Reason>;

    void add(const Call& call, Reason reason, std::uint64_t bytes, std::int64_t ns);
    [[nodiscard]] const std::map<Key, Row>& rows() const noexcept { return rows_; }
    void clear() noexcept { rows_.clear(); }

private:
    std::map<Key, Row> rows_;
};

/// The name by which the program calls the operation.
[[nodiscard]] std::string name_of(Operation operation, Form form);

/// CORYMB_MPI_EXPLAIN=1.
[[nodiscard]] bool is_explaining() noexcept;

/// A communicator goes, or MPI ends: moves its account to the process's summary.
void keep_for_summary(Communicator& communicator) noexcept;

/// Writes the summary to stderr.
void print_summary(int world_rank, int world_size) noexcept;

} // namespace corymb::mpi

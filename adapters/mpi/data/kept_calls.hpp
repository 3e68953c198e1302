// SPDX-License-Identifier: Apache-2.0
// Blocking calls of a communicator that the program makes again and again: the adapter's findings
// about their arguments, and libcorymb's own record of them.
#pragma once

#include "below/call.hpp"
#include "below/host.hpp"

#include <corymb.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace corymb::mpi {

/// A call without its buffers.
struct CallShape {
    Operation operation;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op{};
    int root = 0;
    MPI_Count other_count = 0; ///< For operations with two counts.
    MPI_Datatype other_type{};
    bool in_place = false; ///< The input is the output.

    bool operator==(const CallShape&) const = default;
};

/// The meaning of a call in corymb's terms. Its types and operators are predefined, since others
/// change, and its buffers are used where they lie.
struct CallMeaning {
    corymb_collective operation;
    std::size_t count;
    corymb_type type;
    corymb_op with = CORYMB_NO_OP;
    std::uint64_t bytes = 0; ///< Bytes as the account counts them.
    bool may_choose = true;
    bool has_input = true; ///< The call has an input on this rank.
    bool has_output = true;
    std::size_t in_bytes = 0; ///< Bytes of this rank's buffers.
    std::size_t out_bytes = 0;
};

struct KeptCall {
    CallShape shape{};
    CallMeaning meaning{};
    corymb_call* call = nullptr; ///< Null: it was made once.

    /// Whether the buffers have memory in common, which only the long way judges.
    [[nodiscard]] bool overlap(const void* in, const void* out) const noexcept {
        const auto read = reinterpret_cast<std::uintptr_t>(in);
        const auto written = reinterpret_cast<std::uintptr_t>(out);
        return !shape.in_place && read < written + meaning.out_bytes &&
               written < read + meaning.in_bytes;
    }
    [[nodiscard]] const void* input(const void* in, const void* out) const noexcept {
        return shape.in_place ? out : meaning.has_input ? in : nullptr;
    }
};

class KeptCalls {
public:
    [[nodiscard]] const KeptCall* find(const CallShape& shape) const noexcept {
        const KeptCall& entry = entries_[index_of(shape)];
        return entry.call != nullptr && entry.shape == shape ? &entry : nullptr;
    }
    /// The call is made. From the second time in a row on, as far as others share its place, it is
    /// kept.
    void note(const CallShape& shape, const CallMeaning& meaning, corymb_team* team) noexcept {
        KeptCall& entry = entries_[index_of(shape)];
        if (!(entry.shape == shape)) {
            entry.shape = shape;
            drop(entry);
        } else if (entry.call == nullptr) {
            keep(entry, meaning, team);
        }
    }
    /// The team goes, and its calls with it.
    void forget() noexcept { entries_ = {}; }

private:
    [[nodiscard]] static std::size_t index_of(const CallShape& shape) noexcept {
        return (static_cast<std::size_t>(shape.operation) * 3 +
                static_cast<std::size_t>(shape.root) + static_cast<std::size_t>(shape.count)) %
               entry_count;
    }
    static void drop(KeptCall& entry) noexcept;
    static void keep(KeptCall& entry, const CallMeaning& meaning, corymb_team* team) noexcept;

    static constexpr std::size_t entry_count = 16;
    std::array<KeptCall, entry_count> entries_{};
};

} // namespace corymb::mpi

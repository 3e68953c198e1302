// SPDX-License-Identifier: Apache-2.0
// Operators that corymb has no kernel for, above all the program's own: MPI_Reduce_local runs them,
// within corymb's reductions.
#pragma once

#include "elements.hpp"
#include "host.hpp"

#include <corymb.h>

#include <cstddef>
#include <optional>

namespace corymb::mpi {

/// A cell of a team's takes a whole element.
inline constexpr std::size_t host_element_bytes_most = 8192;

/// Elements and an operator that the MPI below combines.
struct HostKernel {
    MPI_Op op{};
    Layout layout; ///< An element is `layout.extent` bytes, gaps and all.
    bool is_commutative = false;
    bool has_gaps = false; ///< In the program's buffers nothing may be written there.
};

/// Nothing: what the standard does not allow, or elements that cannot be moved as bytes. Decided by
/// what the standard wants to be the same on all ranks.
[[nodiscard]] std::optional<HostKernel> host_kernel_of(MPI_Datatype type, MPI_Op op);

/// Such an operator as one of libcorymb's.
class HostOperator {
public:
    /// `keep`: also after the program has freed its datatype and operator. Throws std::bad_alloc.
    HostOperator(const HostKernel& kernel, bool keep);
    ~HostOperator();
    HostOperator(const HostOperator&) = delete;
    HostOperator& operator=(const HostOperator&) = delete;

    [[nodiscard]] corymb_op number() const noexcept { return number_; }
    [[nodiscard]] bool is_for(const HostKernel& kernel) const noexcept {
        return op_ == kernel.op && type_ == kernel.layout.type &&
               is_commutative_ == kernel.is_commutative;
    }

private:
    static void combine(const void* left, const void* right, void* out, std::size_t count,
                        corymb_type type, void* context) noexcept;
    void combine_here(const std::byte* left, const std::byte* right, std::byte* out,
                      std::size_t count, std::size_t element) const noexcept;

    MPI_Op op_;
    MPI_Datatype type_;
    bool is_commutative_;
    bool is_kept_;
    bool is_own_type_ = false;
    corymb_op number_ = CORYMB_NO_OP;
};

/// The same one for every call with these handles, for operations that end before the program can
/// free them. Throws std::bad_alloc.
[[nodiscard]] corymb_op blocking_operator(const HostKernel& kernel);

} // namespace corymb::mpi

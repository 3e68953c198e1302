// SPDX-License-Identifier: Apache-2.0
// Operators that corymb has no kernel for, above all the program's own: MPI_Reduce_local runs them,
// within corymb's reductions.
#pragma once

#include "below/host.hpp"
#include "data/elements.hpp"
#include "data/kept_handles.hpp"

#include <corymb.h>

#include <cstddef>
#include <optional>
#include <utility>

namespace corymb::mpi {

/// A cell of a team's takes a whole element.
inline constexpr std::size_t host_element_bytes_most = 8192;

/// Elements and an operator that the MPI below combines.
struct HostKernel {
    MPI_Op op{};
    Layout layout; ///< An element is `layout.extent` bytes, gaps and all.
    /// Two ranks that combine operands in opposite order get equal results. Other operators combine
    /// in rank order, so that all ranks have one answer.
    bool is_commutative = false;
    Answer answer = Answer::several;
    bool has_gaps = false; ///< Nothing may be written into the gaps of the program's buffers.
};

/// The kernel of a type and an operator. Nothing if the standard does not allow the call, or
/// elements cannot be moved as bytes. The decision uses only facts that the standard wants equal on
/// all ranks.
[[nodiscard]] std::optional<HostKernel> host_kernel_of(MPI_Datatype type, MPI_Op op);

/// An operator of libcorymb that stands for such a kernel, one at a time.
class HostOperator {
public:
    /// Throws std::bad_alloc.
    explicit HostOperator(bool is_commutative);
    ~HostOperator();
    HostOperator(const HostOperator&) = delete;
    HostOperator& operator=(const HostOperator&) = delete;

    struct Aim {
        MPI_Op op{};
        MPI_Datatype type{};
    };
    /// `kernel` must be of the same commutativity.
    void stand_for(const HostKernel& kernel) noexcept;
    [[nodiscard]] Aim aim() const noexcept { return aim_; }
    void aim_at(const Aim& aim) noexcept { aim_ = aim; }
    [[nodiscard]] corymb_op number() const noexcept { return number_; }

private:
    static void combine(const void* left, const void* right, void* out, std::size_t count,
                        corymb_type type, void* context);
    void combine_here(const std::byte* left, const std::byte* right, std::byte* out,
                      std::size_t count, std::size_t element) const;

    Aim aim_{};
    bool is_commutative_;
    corymb_op number_ = CORYMB_NO_OP;
};

/// The operator of a request: the program may free its datatype and operator before.
class RequestOperator {
public:
    /// Throws std::bad_alloc.
    explicit RequestOperator(const HostKernel& kernel);
    ~RequestOperator();
    RequestOperator(const RequestOperator&) = delete;
    RequestOperator& operator=(const RequestOperator&) = delete;

    [[nodiscard]] corymb_op number() const noexcept { return operator_.number(); }

private:
    HostOperator operator_;
    TypesInUse types_;
    MPI_Op op_;
};

/// The operator of a blocking call, from before it until its end. Callbacks of the program may make
/// other blocking calls within it, on the same thread.
class BlockingOperator {
public:
    /// Throws std::bad_alloc.
    explicit BlockingOperator(const HostKernel& kernel);
    BlockingOperator(BlockingOperator&& other) noexcept
        : operator_(std::exchange(other.operator_, nullptr)), before_(other.before_) {}
    BlockingOperator& operator=(BlockingOperator&&) = delete;
    BlockingOperator(const BlockingOperator&) = delete;
    BlockingOperator& operator=(const BlockingOperator&) = delete;
    ~BlockingOperator();

    [[nodiscard]] corymb_op number() const noexcept { return operator_->number(); }

private:
    HostOperator* operator_;
    HostOperator::Aim before_;
};

} // namespace corymb::mpi

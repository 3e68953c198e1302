// SPDX-License-Identifier: Apache-2.0
// Operators of the C interface: the library's by number, and functions of the user.
#pragma once

#include "c/types.hpp"

#include <corymb.h>
#include <corymb/operators.hpp>
#include <corymb/plan.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace corymb::detail {
struct TeamShared;
} // namespace corymb::detail

namespace corymb::c {

/// The arguments of corymb_op_create.
struct OwnOperator {
    corymb_combine combine;
    void* context;
    bool commutative;
};

/// Whether the operator is the library's.
[[nodiscard]] inline bool is_standard(corymb_op op) noexcept {
    return op >= 0 && static_cast<std::size_t>(op) < operator_count;
}

/// The operator with this number; null for the library's. Throws Errc::invalid_argument for a
/// number that is no operator, or none any more.
[[nodiscard]] std::shared_ptr<const OwnOperator> own_operator(corymb_op op);

/// An operator of the user's in one operation of one rank. It breaks the team when it throws: an
/// exception cannot pass through the engine, where other operations may be under way.
class OwnCall {
public:
    OwnCall(std::shared_ptr<const OwnOperator> op, corymb_type type,
            std::shared_ptr<detail::TeamShared> shared, Rank rank)
        : op_(std::move(op)), type_(type), shared_(std::move(shared)), rank_(rank) {}

    /// The reduction for the engine; *this must outlive the operation.
    [[nodiscard]] Reduction reduction();

    /// Throws Errc::team_broken when the team is broken. A rank whose operator threw has broken the
    /// team before it passed a result on, so a rank that has the result sees it.
    void throw_if_broken() const;

private:
    static void combine(const void* left, const void* right, void* out, std::size_t count,
                        void* context);
    void combine_aligned(const void* left, const void* right, void* out, std::size_t count) const;
    void combine_copies(const void* left, const void* right, void* out, std::size_t count) const;
    void give_up(const char* why) const noexcept;

    std::shared_ptr<const OwnOperator> op_;
    corymb_type type_;
    std::shared_ptr<detail::TeamShared> shared_;
    Rank rank_;
};

} // namespace corymb::c

// SPDX-License-Identifier: Apache-2.0
// corymb.Op: operators that Python functions define, with mpi4py's way of writing them.
#pragma once

#include "bindings.hpp"

#include <corymb/operators.hpp>
#include <corymb/types.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace corymb::python {

struct UserOperator {
    /// Let go of with the interpreter lock, by whoever has it last; null after Free.
    std::shared_ptr<nb::callable> function;
    bool commutative = false;

    int visit(visitproc visit, void* arg) const; ///< For Python's collector (collected.hpp).
    void let_go() noexcept { function.reset(); }
};

/// An operator and the elements that it combines in one operation: the context of a Reduction.
class UserReduction {
public:
    /// Throws Errc::invalid_argument for an operator that was freed.
    UserReduction(const UserOperator& op, std::size_t element_bytes,
                  std::optional<ElementType> type);
    /// Uses this object: it must stay where it is until the operation is done.
    [[nodiscard]] Reduction reduction();

private:
    static void combine(const void* left, const void* right, void* out, std::size_t count,
                        void* context);

    UserOperator op_;
    std::size_t element_bytes_;
    std::optional<ElementType> type_;
};

void bind_user_operator(nb::module_& module);

} // namespace corymb::python

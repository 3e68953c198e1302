// SPDX-License-Identifier: Apache-2.0
#include "operators.hpp"

#include "library.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>

namespace corymb::mpi {

namespace {

/// Operators of the program that requests under way need.
struct Kept {
    int users = 0;
    bool is_freed = false; ///< The program has, and the last user does.
};
struct KeptOperators {
    std::mutex lock;
    std::unordered_map<MPI_Op, Kept> all;
};

/// Never destroyed: MPI may call back while the process ends.
KeptOperators& kept_operators() {
    static auto* const one = new KeptOperators;
    return *one;
}

void keep_operator(MPI_Op op) {
    KeptOperators& kept = kept_operators();
    const std::lock_guard lock(kept.lock);
    ++kept.all[op].users;
}

void let_operator_go(MPI_Op op) noexcept {
    KeptOperators& kept = kept_operators();
    const std::lock_guard lock(kept.lock);
    const auto found = kept.all.find(op);
    if (--found->second.users > 0) {
        return;
    }
    if (found->second.is_freed) {
        host().Op_free(&op);
    }
    kept.all.erase(found);
}

/// Whether the last of its users will free it instead of the program, which has asked for it.
bool is_freed_later(MPI_Op op) noexcept {
    KeptOperators& kept = kept_operators();
    const std::lock_guard lock(kept.lock);
    const auto found = kept.all.find(op);
    if (found == kept.all.end()) {
        return false;
    }
    found->second.is_freed = true;
    return true;
}

/// The elements lie within their extents, each in its own.
bool lie_apart(const Layout& layout) noexcept {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    host().Type_get_extent(layout.type, &lower, &extent);
    return lower == 0 && layout.begin >= 0 && layout.end <= layout.extent && layout.size > 0;
}

} // namespace

std::optional<HostKernel> host_kernel_of(MPI_Datatype type, MPI_Op op) {
    if (!is_allowed(type, op)) {
        return std::nullopt;
    }
    const Layout layout = whole_layout_of(type);
    if (!lie_apart(layout) || static_cast<std::size_t>(layout.extent) > host_element_bytes_most) {
        return std::nullopt;
    }
    int is_commutative = 0;
    host().Op_commutative(op, &is_commutative);
    return HostKernel{op, layout, is_commutative != 0, !layout.is_dense};
}

HostOperator::HostOperator(const HostKernel& kernel, bool keep)
    : op_(kernel.op), type_(kernel.layout.type), is_commutative_(kernel.is_commutative),
      is_kept_(keep) {
    if (library().op_create(&combine, this, is_commutative_ ? 1 : 0, &number_) != CORYMB_OK) {
        throw std::bad_alloc();
    }
    if (is_kept_) {
        keep_operator(op_);
        is_own_type_ = !kernel.layout.is_predefined &&
                       host().Type_dup(kernel.layout.type, &type_) == MPI_SUCCESS;
    }
}

HostOperator::~HostOperator() {
    library().op_free(&number_);
    if (is_own_type_) {
        host().Type_free(&type_);
    }
    if (is_kept_) {
        let_operator_go(op_);
    }
}

void HostOperator::combine(const void* left, const void* right, void* out, std::size_t count,
                           corymb_type type, void* context) noexcept {
    const auto& self = *static_cast<const HostOperator*>(context);
    const std::size_t element = library().type_size(type);
    // MPI_Reduce_local counts with int, and its target cannot be its left operand.
    constexpr std::size_t piece_bytes = std::size_t{1} << 26;
    const bool on_left = out == left && !self.is_commutative_;
    const std::size_t most =
        std::max<std::size_t>((on_left ? host_element_bytes_most : piece_bytes) / element, 1);
    for (std::size_t done = 0; done < count; done += most) {
        const std::size_t at = done * element;
        self.combine_here(static_cast<const std::byte*>(left) + at,
                          static_cast<const std::byte*>(right) + at,
                          static_cast<std::byte*>(out) + at, std::min(most, count - done), element);
    }
}

/// MPI_Reduce_local(a, b): b = a (+) b.
void HostOperator::combine_here(const std::byte* left, const std::byte* right, std::byte* out,
                                std::size_t count, std::size_t element) const noexcept {
    const auto reduce = [&](const std::byte* a, std::byte* b) {
        host().Reduce_local(a, b, static_cast<int>(count), type_, op_);
    };
    if (out == right) {
        reduce(left, out);
    } else if (out == left && is_commutative_) {
        reduce(right, out);
    } else if (out == left) {
        alignas(std::max_align_t) std::byte copy[host_element_bytes_most];
        std::memcpy(copy, right, count * element);
        reduce(left, copy);
        std::memcpy(out, copy, count * element);
    } else {
        std::memcpy(out, right, count * element);
        reduce(left, out);
    }
}

corymb_op blocking_operator(const HostKernel& kernel) {
    struct Known {
        std::mutex lock;
        std::deque<HostOperator> all; // Handles are used again: no more than a program has at once.
    };
    static auto* const known = new Known;
    thread_local constinit const HostOperator* last = nullptr;
    if (last != nullptr && last->is_for(kernel)) {
        return last->number();
    }
    const std::lock_guard lock(known->lock);
    for (const HostOperator& one : known->all) {
        if (one.is_for(kernel)) {
            last = &one;
            return one.number();
        }
    }
    last = &known->all.emplace_back(kernel, false);
    return last->number();
}

} // namespace corymb::mpi

/// Requests under way may need it still.
extern "C" __attribute__((visibility("default"))) int MPI_Op_free(MPI_Op* op) {
    using namespace corymb::mpi;
    if (op != nullptr && is_freed_later(*op)) {
        *op = host().op_null;
        return MPI_SUCCESS;
    }
    return host().Op_free(op);
}

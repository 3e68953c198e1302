// SPDX-License-Identifier: Apache-2.0
#include "data/operators.hpp"

#include "below/library.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace corymb::mpi {

namespace {

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
    const std::optional<Answer> known = answer_of(type, op);
    const bool is_symmetric = is_commutative != 0 && known != Answer::several;
    // An operator that keeps the order of the ranks has one way to combine two.
    const Answer own = is_symmetric ? Answer::several : Answer::one_of_two;
    return HostKernel{op, layout, is_symmetric, known.value_or(own), !layout.is_dense};
}

HostOperator::HostOperator(bool is_commutative) : is_commutative_(is_commutative) {
    if (library().op_create(&combine, this, is_commutative ? 1 : 0, &number_) != CORYMB_OK) {
        throw std::bad_alloc();
    }
}

HostOperator::~HostOperator() {
    library().op_free(&number_);
}

void HostOperator::stand_for(const HostKernel& kernel) noexcept {
    aim_ = {kernel.op, kernel.layout.type};
}

RequestOperator::RequestOperator(const HostKernel& kernel)
    : operator_(kernel.is_commutative), op_(kernel.op) {
    operator_.stand_for(kernel);
    if (!kernel.layout.is_predefined) {
        types_.add(kernel.layout.type);
    }
    kept_operators().keep(op_);
}

RequestOperator::~RequestOperator() {
    for (int frees = kept_operators().let_go(op_); frees > 0; --frees) {
        MPI_Op handle = op_;
        host().Op_free(&handle);
    }
}

void HostOperator::combine(const void* left, const void* right, void* out, std::size_t count,
                           corymb_type type, void* context) {
    const auto& self = *static_cast<const HostOperator*>(context);
    const std::size_t element = library().type_size(type);
    // MPI_Reduce_local counts with int. An operator that is not commutative may want its vector
    // whole.
    constexpr std::size_t piece_bytes = std::size_t{1} << 26;
    const std::size_t most = self.is_commutative_ ? std::max<std::size_t>(piece_bytes / element, 1)
                                                  : std::size_t{std::numeric_limits<int>::max()};
    for (std::size_t done = 0; done < count; done += most) {
        const std::size_t at = done * element;
        self.combine_here(static_cast<const std::byte*>(left) + at,
                          static_cast<const std::byte*>(right) + at,
                          static_cast<std::byte*>(out) + at, std::min(most, count - done), element);
    }
}

/// MPI_Reduce_local(a, b): b = a (+) b.
void HostOperator::combine_here(const std::byte* left, const std::byte* right, std::byte* out,
                                std::size_t count, std::size_t element) const {
    const auto reduce = [&](const std::byte* a, std::byte* b) {
        host().Reduce_local(a, b, static_cast<int>(count), aim_.type, aim_.op);
    };
    if (out == right) {
        reduce(left, out);
    } else if (out == left && is_commutative_) {
        reduce(right, out);
    } else if (out == left) { // `left` cannot be the target.
        std::vector<std::max_align_t> copy(count * element / sizeof(std::max_align_t) + 1);
        auto* const bytes = reinterpret_cast<std::byte*>(copy.data());
        std::memcpy(bytes, right, count * element);
        reduce(left, bytes);
        std::memcpy(out, bytes, count * element);
    } else {
        std::memcpy(out, right, count * element);
        reduce(left, out);
    }
}

namespace {

/// The operator of this thread, of the commutative kind or the other. It goes with its thread; the
/// first thread still runs code at the end of the process. Throws std::bad_alloc.
HostOperator& own_operator(bool is_commutative) {
    static thread_local constinit HostOperator* own[2]{};
    struct End {
        ~End() {
            for (HostOperator*& one : own) {
                delete std::exchange(one, nullptr);
            }
        }
    };
    HostOperator*& one = own[is_commutative ? 1 : 0];
    if (one == nullptr) {
        static thread_local const End end;
        static_cast<void>(end);
        one = new HostOperator(is_commutative);
    }
    return *one;
}

} // namespace

BlockingOperator::BlockingOperator(const HostKernel& kernel)
    : operator_(&own_operator(kernel.is_commutative)), before_(operator_->aim()) {
    operator_->stand_for(kernel);
}

BlockingOperator::~BlockingOperator() {
    if (operator_ != nullptr) {
        operator_->aim_at(before_);
    }
}

} // namespace corymb::mpi

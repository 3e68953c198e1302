// SPDX-License-Identifier: Apache-2.0
#include "c/operators.hpp"

#include "c/status.hpp"
#include "team/team_shared.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

namespace corymb::c {

namespace {

/// Operators of the user's by number. Numbers are not used again, so that one that was freed is
/// noticed.
class Registry {
public:
    corymb_op add(std::shared_ptr<const OwnOperator> op) {
        const std::unique_lock lock(mutex_);
        operators_.emplace(next_, std::move(op));
        return static_cast<corymb_op>(next_++);
    }
    [[nodiscard]] std::shared_ptr<const OwnOperator> find(corymb_op op) const {
        const std::shared_lock lock(mutex_);
        const auto found = operators_.find(op);
        return found == operators_.end() ? nullptr : found->second;
    }
    bool remove(corymb_op op) {
        const std::unique_lock lock(mutex_);
        return operators_.erase(op) == 1;
    }

private:
    mutable std::shared_mutex mutex_;
    std::map<int, std::shared_ptr<const OwnOperator>> operators_;
    int next_ = 1 << 20;
};

/// Lives to the very end: other threads may still reduce while statics are destroyed.
Registry& registry() {
    static auto* const all = new Registry;
    return *all;
}

constexpr std::size_t alignment_max = 16;
constexpr std::size_t bounce_bytes = cell_bytes;

/// Copies of operands that are not aligned, some elements at a time.
struct alignas(alignment_max) Bounce {
    std::byte bytes[bounce_bytes];
};

struct alignas(alignment_max) Block {
    std::byte bytes[alignment_max];
};

bool is_aligned(const void* pointer, std::size_t alignment) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

} // namespace

std::shared_ptr<const OwnOperator> own_operator(corymb_op op) {
    if (is_standard(op)) {
        return nullptr;
    }
    auto found = registry().find(op);
    if (found == nullptr) {
        refuse("there is no operator " + std::to_string(static_cast<int>(op)) +
               ", or it was freed; use a value of corymb_op, or corymb_op_create");
    }
    return found;
}

Reduction OwnCall::reduction() {
    const bool commutes = op_->commutative;
    return {combine, size_of(type_), commutes, this, 0, !commutes};
}

void OwnCall::throw_if_broken() const {
    if (shared_->is_broken()) {
        shared_->throw_failure();
    }
}

void OwnCall::combine(const void* left, const void* right, void* out, std::size_t count,
                      void* context) {
    const auto& self = *static_cast<const OwnCall*>(context);
    if (count == 0) { // Blocks may be empty.
        return;
    }
    try {
        self.combine_aligned(left, right, out, count);
    } catch (const std::exception& error) {
        self.give_up(error.what());
    } catch (...) {
        self.give_up("an exception of an unknown type");
    }
}

/// Payloads in cache lines and cells, and the caller's own buffers, need not be aligned; a C
/// function on typed pointers needs it.
void OwnCall::combine_aligned(const void* left, const void* right, void* out,
                              std::size_t count) const {
    const std::size_t bytes = size_of(type_);
    const std::size_t alignment =
        std::min(alignment_max, std::size_t{1} << static_cast<unsigned>(std::countr_zero(bytes)));
    if (is_aligned(left, alignment) && is_aligned(right, alignment) && is_aligned(out, alignment)) {
        op_->combine(left, right, out, count, type_, op_->context);
        return;
    }
    if (!op_->commutative) { // Combined in one piece.
        combine_copies(left, right, out, count);
        return;
    }
    Bounce a;
    Bounce b;
    const std::size_t most = bounce_bytes / bytes; // An element has at most cell_bytes.
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(most, count - done);
        const std::size_t at = done * bytes;
        std::memcpy(a.bytes, static_cast<const std::byte*>(left) + at, now * bytes);
        std::memcpy(b.bytes, static_cast<const std::byte*>(right) + at, now * bytes);
        op_->combine(a.bytes, b.bytes, a.bytes, now, type_, op_->context);
        std::memcpy(static_cast<std::byte*>(out) + at, a.bytes, now * bytes);
        done += now;
    }
}

void OwnCall::combine_copies(const void* left, const void* right, void* out,
                             std::size_t count) const {
    const std::size_t bytes = count * size_of(type_);
    const auto in_blocks = [bytes](const void* from) {
        std::vector<Block> copy((bytes + sizeof(Block) - 1) / sizeof(Block));
        std::memcpy(copy.data(), from, bytes);
        return copy;
    };
    std::vector<Block> a = in_blocks(left);
    const std::vector<Block> b = in_blocks(right);
    op_->combine(a.data(), b.data(), a.data(), count, type_, op_->context);
    std::memcpy(out, a.data(), bytes);
}

void OwnCall::give_up(const char* why) const noexcept {
    try {
        shared_->fail(
            {Errc::team_broken,
             "rank " + std::to_string(rank_) + " gave up: its operator threw an exception: " + why,
             {rank_}});
    } catch (...) {
        // Without memory there is no text, but ranks still see that the result is spoilt.
        shared_->record.broken.store(1, std::memory_order_relaxed);
    }
}

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_op_create(corymb_combine combine, void* context, int commutative,
                               corymb_op* op) noexcept {
    return c::guarded([&] {
        c::require(op, "corymb_op_create: op");
        *op = CORYMB_NO_OP;
        c::require(combine, "corymb_op_create: combine");
        *op = c::registry().add(std::make_shared<const c::OwnOperator>(
            c::OwnOperator{combine, context, commutative != 0}));
    });
}

corymb_status corymb_op_free(corymb_op* op) noexcept {
    return c::guarded([&] {
        c::require(op, "corymb_op_free: op");
        if (c::is_standard(*op)) {
            c::refuse("corymb_op_free: an operator of the library is never freed");
        }
        if (!c::registry().remove(*op)) {
            c::refuse("corymb_op_free: there is no such operator, or it was freed already");
        }
        *op = CORYMB_NO_OP;
    });
}

int corymb_is_defined(corymb_type type, corymb_op op) noexcept {
    if (!c::is_standard(op)) {
        return corymb_type_size(type) != 0 && c::registry().find(op) != nullptr ? 1 : 0;
    }
    const auto known = c::standard(type);
    return known && is_defined(*known, static_cast<Operator>(op)) ? 1 : 0;
}

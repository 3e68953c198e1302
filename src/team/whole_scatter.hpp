// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "team/call.hpp"

#include <corymb/detail/staging.hpp>
#include <corymb/team.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace corymb::detail {

/// A reduce_scatter whose operator wants each rank's vector whole (Reduction::whole). The ranks
/// combine the whole vectors in an allreduce, and each keeps its own part of the result.
class WholeScatter final : public Staging {
public:
    [[nodiscard]] static bool is_needed_for(const CollectiveOperation& operation) noexcept {
        return operation.reduction.whole && operation.op == Collective::reduce_scatter;
    }

    /// Throws as collective_call.
    WholeScatter(Rank rank, int size, const CollectiveOperation& given)
        : input_(static_cast<const std::byte*>(given.input)),
          output_(static_cast<std::byte*>(given.output)), operation_(given) {
        // Throws for a call that a reduce_scatter refuses.
        static_cast<void>(collective_call(rank, size, given));
        lay_out(static_cast<std::size_t>(rank), static_cast<std::size_t>(size), given);
        const std::size_t element = given.reduction.element_bytes;
        result_ = std::make_unique_for_overwrite<std::byte[]>(operation_.count * element);
        if (!copies_.empty()) {
            gathered_ = std::make_unique_for_overwrite<std::byte[]>(operation_.count * element);
            operation_.input = gathered_.get();
        }
        operation_.output = result_.get();
        operation_.op = Collective::allreduce;
        operation_.is_scatter = true;
        operation_.is_vector = false;
        operation_.input_parts = operation_.output_parts = {};
    }

    /// The call of the ranks between `before` and `after`.
    [[nodiscard]] const CollectiveOperation& operation() const noexcept { return operation_; }

    void before() override {
        for (const Copy& copy : copies_) {
            std::memcpy(gathered_.get() + copy.to, input_ + copy.from, copy.bytes);
        }
    }
    void after() override {
        if (own_bytes_ != 0) {
            std::memcpy(output_, result_.get() + own_begin_, own_bytes_);
        }
    }

private:
    struct Copy {
        std::size_t to, from, bytes;
    };

    /// Parts that do not follow each other are copied together, in the order of ranks.
    void lay_out(std::size_t rank, std::size_t size, const CollectiveOperation& given) {
        const std::size_t element = given.reduction.element_bytes;
        bool is_dense = true;
        operation_.count = 0;
        for (std::size_t part = 0; part < size; ++part) {
            const auto& [counts, displacements] = given.input_parts;
            const std::size_t count = given.is_vector ? counts[part] : given.count;
            const std::size_t from = displacements.empty() ? operation_.count : displacements[part];
            if (count != 0) {
                is_dense = is_dense && from == operation_.count;
                copies_.push_back({operation_.count * element, from * element, count * element});
            }
            if (part == rank) {
                own_begin_ = operation_.count * element;
                own_bytes_ = count * element;
            }
            operation_.count += count;
        }
        if (is_dense) {
            copies_.clear();
        }
    }

    const std::byte* input_;
    std::byte* output_;
    CollectiveOperation operation_;
    std::vector<Copy> copies_; ///< Into `gathered_`.
    std::unique_ptr<std::byte[]> gathered_;
    std::unique_ptr<std::byte[]> result_;
    std::size_t own_begin_ = 0;
    std::size_t own_bytes_ = 0;
};

/// Calls `run(operation)` with the allreduce that stands for the operation.
template <class Run>
void run_whole(Rank rank, int size, const CollectiveOperation& operation, const Run& run) {
    WholeScatter scatter(rank, size, operation);
    scatter.before();
    run(scatter.operation());
    scatter.after();
}

} // namespace corymb::detail

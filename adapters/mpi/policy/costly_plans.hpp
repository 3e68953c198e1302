// SPDX-License-Identifier: Apache-2.0
// Operations between nodes whose plans take long to make. In these all ranks have a part for all
// others, and making a plan takes time that grows with the square of the ranks: ten seconds for a
// thousand. Blocking calls of these go to the MPI until the calls of a size have taken as long. So
// a program with few of them does not wait for plans, and one with many loses little. In
// nonblocking calls ranks cannot agree on that.
#pragma once

#include "policy/choice.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace corymb::mpi {

class CostlyPlans {
public:
    /// Calls of one operation and size that wait for a plan; equal on all ranks.
    class Wait {
    public:
        [[nodiscard]] bool is_over() const noexcept { return is_over_; }
        /// A call has taken so long on this rank.
        void add(std::uint64_t ns) noexcept { ns_ += ns; }
        /// The time of the calls so far, on this rank.
        [[nodiscard]] std::uint64_t ns() const noexcept { return ns_; }
        /// How many calls more the MPI has before the ranks agree. Twice as many each time.
        [[nodiscard]] std::uint32_t calls() const noexcept { return calls_; }

    private:
        friend class CostlyPlans;

        std::uint64_t ns_ = 0;
        std::uint32_t calls_ = tuning::costly_plan_calls;
        bool is_over_ = true;
    };

    /// Begins for a communicator of so many ranks on several nodes, whose calls `choice` decides
    /// on.
    void begin(Choice& choice, int ranks) noexcept;
    /// Null: such calls do not wait, or no longer.
    [[nodiscard]] Wait* wait_of(Operation operation, std::uint64_t bytes) noexcept;
    /// Whether calls have taken long enough: `least_ns` on the rank that has waited least, as the
    /// last one to come does for the others.
    void decide(Wait& wait, Operation operation, std::uint64_t bytes,
                std::uint64_t least_ns) const noexcept {
        wait.is_over_ = least_ns >= plan_ns(operation, bytes);
        wait.calls_ *= 2;
    }

private:
    [[nodiscard]] std::uint64_t plan_ns(Operation operation, std::uint64_t bytes) const noexcept;
    [[nodiscard]] static std::size_t place(Operation operation, std::uint64_t bytes) noexcept {
        return static_cast<std::size_t>(operation) * Choice::size_classes +
               Choice::size_class(bytes);
    }

    int ranks_ = 0; ///< 0: nothing waits.
    std::array<Wait, translated_operations * Choice::size_classes> waits_{};
};

} // namespace corymb::mpi

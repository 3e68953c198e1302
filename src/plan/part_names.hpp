// SPDX-License-Identifier: Apache-2.0
// Finds the part that stands in each place of scratch. If each place always holds one part, a plan
// can also run with parts of different lengths, each place being as long as its part.
#pragma once

#include <corymb/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corymb::plan {

class Matching;

/// A part of an operation. A part that rank r gives or gets, whichever there is one of, is r; in an
/// alltoall rank s has part s * ranks + r for rank r.
using PartName = std::uint64_t;
inline constexpr PartName no_part = ~PartName{0};

/// The part that stands in a place of the input or output of `rank`, in plans with one block a
/// part, of operations that have parts.
[[nodiscard]] PartName part_of(const Plan& plan, Rank rank, Buffer buffer, std::uint32_t place);

class PartNames {
public:
    /// Names the parts of a plan that `check_plan` has accepted. Throws Errc::invalid_plan if parts
    /// have several blocks, if a place holds different parts in turn or another part than its own,
    /// or if a read takes a part of a publication; the text names the step. O(blocks that steps
    /// name).
    explicit PartNames(const Plan& plan);

    /// The parts in the places of scratch of a rank, as far as it uses them; `no_part` in a place
    /// that it leaves alone.
    [[nodiscard]] std::vector<PartName> in_scratch(Rank rank) const;

private:
    struct Place {
        Rank rank;
        Blocks blocks;
    };

    void follow(std::uint32_t number);
    void equate(std::uint32_t number, const Place& one, const Place& other);
    [[nodiscard]] std::size_t scratch_place(Rank rank, std::uint32_t place) const;
    [[nodiscard]] std::size_t root_of(std::size_t place) const noexcept;
    void name(std::uint32_t number, std::size_t place, PartName part);
    void unite(std::uint32_t number, std::size_t one, std::size_t other);
    [[noreturn]] void refuse(std::uint32_t number) const;

    const Plan* plan_;
    const Matching* matching_ = nullptr; // While it follows the steps.
    // By rank, and the end: the first of its places of scratch.
    std::vector<std::size_t> first_;
    // Places that hold one part form a set, named by its root.
    mutable std::vector<std::size_t> parent_;
    std::vector<PartName> name_;
};

} // namespace corymb::plan

// SPDX-License-Identifier: Apache-2.0
#include "base/sha256.hpp"

#include <corymb/plan.hpp>

#include <concepts>
#include <string>

namespace corymb {

namespace {

/// Little-endian bytes whatever the machine, so that ranks on different machines agree.
class CanonicalBytes {
public:
    explicit CanonicalBytes(std::size_t expected) { bytes_.reserve(expected); }

    template <std::unsigned_integral Number>
    void put(Number number) {
        for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
            bytes_ += static_cast<char>((std::uint64_t{number} >> (8 * byte)) & 0xff);
        }
    }
    void put(const Blocks& blocks) {
        put(static_cast<std::uint8_t>(blocks.buffer));
        put(blocks.first);
        put(blocks.count);
    }
    void put(const Step& step) {
        put(static_cast<std::uint8_t>(step.kind));
        put(static_cast<std::uint8_t>(step.via));
        put(static_cast<std::uint32_t>(step.peer));
        put(step.to);
        put(step.from);
        put(step.ordinal);
        put(static_cast<std::uint8_t>((step.incoming_first ? 1 : 0) | (step.offset != 0 ? 2 : 0)));
        if (step.offset != 0) { // Few steps have one.
            put(step.offset);
        }
    }
    [[nodiscard]] const std::string& text() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

constexpr std::size_t step_bytes = 2 + 4 + 2 * 9 + 4 + 1;

} // namespace

std::string plan_hash(const Plan& plan) {
    std::size_t step_count = 0;
    for (const auto& steps : plan.steps) {
        step_count += steps.size();
    }
    CanonicalBytes bytes(64 + 4 * plan.steps.size() + step_bytes * step_count);
    bytes.put(static_cast<std::uint8_t>(plan.op));
    bytes.put(static_cast<std::uint32_t>(plan.root));
    bytes.put(plan.block_count);
    bytes.put(plan.scratch_blocks);
    bytes.put(plan.bytes_max);
    bytes.put(plan.cell_slots);
    bytes.put(plan.copied_cells);
    bytes.put(static_cast<std::uint32_t>(plan.steps.size()));
    for (const auto& steps : plan.steps) {
        bytes.put(static_cast<std::uint32_t>(steps.size()));
        for (const Step& step : steps) {
            bytes.put(step);
        }
    }
    return sha256_hex("corymb-plan/1\n" + bytes.text());
}

} // namespace corymb

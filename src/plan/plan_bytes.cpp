// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_bytes.hpp"

#include "plan/limits.hpp"

#include <corymb/error.hpp>

#include <cstdint>
#include <limits>

namespace corymb::plan {

namespace {

/// Changes with whatever the bytes mean.
constexpr std::uint64_t version = 3;
constexpr auto uint32_max = std::uint64_t{std::numeric_limits<std::uint32_t>::max()};
constexpr unsigned group_bits = 7;
constexpr std::uint64_t last_kind = static_cast<std::uint64_t>(StepKind::put_fold);
constexpr std::uint64_t last_mechanism = static_cast<std::uint64_t>(Mechanism::push);
constexpr std::uint64_t last_buffer = static_cast<std::uint64_t>(Buffer::scratch);

[[noreturn]] std::uint64_t refuse() {
    throw Error(Errc::invalid_plan, "these bytes are no plan of this version of corymb; do all "
                                    "processes use the same one?");
}

class Writer {
public:
    void put(std::uint64_t number) { put_number(bytes_, number); }
    void put(const Blocks& blocks) {
        // Most are few, and many are none.
        put(static_cast<std::uint64_t>(blocks.buffer) | std::uint64_t{blocks.count} << 2U);
        put(blocks.first);
    }
    void put(const Step& step) {
        put(static_cast<std::uint64_t>(step.kind) | (step.incoming_first ? 1U << 4U : 0U) |
            (step.offset != 0 ? 1U << 5U : 0U));
        put(static_cast<std::uint64_t>(step.via));
        put(static_cast<std::uint64_t>(static_cast<std::int64_t>(step.peer) + 1));
        put(step.to);
        put(step.from);
        put(step.ordinal);
        if (step.offset != 0) { // Few steps have one.
            put(step.offset);
        }
    }
    void put(const std::string& text) {
        put(text.size());
        bytes_ += text;
    }
    [[nodiscard]] std::string take() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) noexcept : left_(bytes) {}

    [[nodiscard]] std::uint64_t number(std::uint64_t most) { return take_number(left_, most); }
    template <class Number>
    [[nodiscard]] Number number_of(std::uint64_t most) {
        return static_cast<Number>(number(most));
    }
    [[nodiscard]] Blocks blocks() {
        const std::uint64_t packed = number(uint32_max << 2U | 3U);
        Blocks blocks;
        blocks.buffer = static_cast<Buffer>((packed & 3U) <= last_buffer ? packed & 3U : refuse());
        blocks.count = static_cast<std::uint32_t>(packed >> 2U);
        blocks.first = number_of<std::uint32_t>(uint32_max);
        return blocks;
    }
    [[nodiscard]] Step step() {
        const std::uint64_t packed = number(0x3F);
        Step step;
        step.kind = static_cast<StepKind>((packed & 0xFU) <= last_kind ? packed & 0xFU : refuse());
        step.incoming_first = (packed >> 4U & 1U) != 0;
        step.via = number_of<Mechanism>(last_mechanism);
        step.peer = static_cast<Rank>(number_of<std::int64_t>(rank_count_max) - 1);
        step.to = blocks();
        step.from = blocks();
        step.ordinal = number_of<std::uint32_t>(uint32_max);
        step.offset = packed >> 5U != 0 ? number_of<std::uint32_t>(uint32_max) : 0;
        return step;
    }
    [[nodiscard]] std::string text() {
        return std::string(take_bytes(left_, number(left_.size())));
    }
    /// Reads a count of things. Refuses a count above `most`, or one whose things, of at least
    /// `bytes_each` bytes each, cannot all be there.
    [[nodiscard]] std::size_t count(std::uint64_t most, std::size_t bytes_each) {
        const auto value = number_of<std::size_t>(most);
        return value <= left_.size() / bytes_each ? value : static_cast<std::size_t>(refuse());
    }
    [[nodiscard]] bool is_at_end() const noexcept { return left_.empty(); }

private:
    std::string_view left_;
};

} // namespace

void put_number(std::string& bytes, std::uint64_t number) {
    while (number >= 1U << group_bits) {
        bytes += static_cast<char>(number | 1U << group_bits);
        number >>= group_bits;
    }
    bytes += static_cast<char>(number);
}

std::uint64_t take_number(std::string_view& bytes, std::uint64_t most) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += group_bits) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 1U << group_bits) {
            return value <= most ? value : refuse();
        }
    }
    return refuse();
}

std::string_view take_bytes(std::string_view& bytes, std::uint64_t count) {
    if (count > bytes.size()) {
        refuse();
    }
    const std::string_view taken = bytes.substr(0, count);
    bytes.remove_prefix(count);
    return taken;
}

std::string to_bytes(const Plan& plan) {
    Writer writer;
    writer.put(version);
    writer.put(static_cast<std::uint64_t>(plan.op));
    writer.put(static_cast<std::uint64_t>(plan.root));
    writer.put(plan.block_count);
    writer.put(plan.scratch_blocks);
    writer.put(plan.bytes_max);
    writer.put(plan.cell_slots);
    writer.put(plan.copied_cells);
    writer.put(plan.algorithm);
    writer.put(plan.steps.size());
    for (const auto& steps : plan.steps) {
        writer.put(steps.size());
        for (const Step& step : steps) {
            writer.put(step);
        }
    }
    return std::move(writer).take();
}

Plan plan_from_bytes(std::string_view bytes) {
    constexpr std::size_t step_bytes_least = 8;
    Reader reader(bytes);
    Plan plan;
    if (reader.number(uint32_max) != version) {
        refuse();
    }
    plan.op = reader.number_of<Collective>(collective_count - 1);
    plan.root = reader.number_of<Rank>(rank_count_max);
    plan.block_count = reader.number_of<std::uint32_t>(block_count_max);
    plan.scratch_blocks = reader.number_of<std::uint32_t>(block_count_max);
    plan.bytes_max = reader.number(payload_bytes_max);
    plan.cell_slots = reader.number_of<std::uint32_t>(cell_slots_most);
    plan.copied_cells = reader.number_of<std::uint32_t>(cell_slots_most);
    plan.algorithm = reader.text();
    plan.steps.resize(reader.count(rank_count_max, 1));
    for (auto& steps : plan.steps) {
        const std::size_t count = reader.count(step_count_max, step_bytes_least);
        steps.reserve(count);
        for (std::size_t step = 0; step < count; ++step) {
            steps.push_back(reader.step());
        }
    }
    if (plan.steps.empty() || !reader.is_at_end()) {
        refuse();
    }
    return plan;
}

} // namespace corymb::plan

// SPDX-License-Identifier: Apache-2.0
// Assertions about the steps of a program, for debug builds: a step that is done has moved its own
// channel by one message, or by the cells of one, and no other channel of that peer. A step that
// waits has moved it as far as its offset says.
#pragma once

#include "base/assert.hpp"
#include "team/operand_bytes.hpp"
#include "team/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace corymb::team {

/// Made before a step is performed.
template <class Env>
class StepCheck {
public:
    using Step = CompiledStep<Env>;

    StepCheck(const Step& step, const Operands& operands, std::size_t block_count,
              std::size_t offset)
        : step_(&step), operands_(&operands), block_count_(block_count), offset_(offset),
          before_(now()) {}

    /// The step is done, or waits at `offset`.
    void after(bool is_done, std::size_t offset) const {
        if (!is_done && (step_->code == Opcode::pull || step_->code == Opcode::put ||
                         step_->code == Opcode::read_address)) {
            return; // The message was taken, and the copy refused: the team is broken.
        }
        Counts expected = before_;
        const Counts from = moved(offset_);
        const Counts to = is_done ? moved_in_all() : moved(offset);
        for (std::size_t channel = 0; channel < channels; ++channel) {
            expected[channel] += to[channel] - from[channel];
        }
        CORYMB_DEBUG_ASSERT(now() == expected);
        CORYMB_DEBUG_ASSERT(!is_done || offset == 0);
    }

private:
    enum Channel : std::size_t {
        signals_sent,
        signals_received,
        lines_sent,
        lines_received,
        cells_sent,
        cells_received,
        meetings_put,
        meetings_taken,
        flags,
        messages,
        channels
    };
    /// Messages that have gone through each channel of a step's peer or publication.
    using Counts = std::array<std::uint64_t, channels>;

    [[nodiscard]] Counts now() const {
        Counts counts{};
        if (const auto* const peer = step_->peer; peer != nullptr) {
            counts = {peer->signals_sent,         peer->signals_received,
                      peer->line_out.sent(),      peer->line_in.consumed(),
                      peer->cells_out.sent(),     peer->cells_in.consumed(),
                      peer->exchange.times_put(), peer->exchange.times_taken()};
        }
        if (step_->end != nullptr) {
            counts[flags] = step_->end->flags;
            counts[messages] = step_->end->messages;
        }
        return counts;
    }

    /// The channel that the messages of a step go through.
    [[nodiscard]] static Channel channel_of(Opcode code) {
        switch (code) {
        case Opcode::signal:
        case Opcode::signal_lent: return signals_sent;
        case Opcode::wait:
        case Opcode::wait_lent: return signals_received;
        case Opcode::send_line:
        case Opcode::post:
        case Opcode::offer: return lines_sent;
        case Opcode::receive_line:
        case Opcode::pull:
        case Opcode::put: return lines_received;
        case Opcode::send_cells: return cells_sent;
        case Opcode::receive_cells: return cells_received;
        case Opcode::raise:
        case Opcode::observe: return flags;
        case Opcode::publish_line:
        case Opcode::publish_address:
        case Opcode::read_line:
        case Opcode::read_address: return messages;
        case Opcode::meet_signal:
        case Opcode::meet_put: return meetings_put;
        case Opcode::meet_wait:
        case Opcode::meet_take: return meetings_taken;
        case Opcode::copy:
        case Opcode::far: break;
        }
        return channels;
    }

    [[nodiscard]] std::size_t bytes() const {
        const bool receives = step_->code == Opcode::receive_cells || step_->code == Opcode::pull ||
                              step_->code == Opcode::signal_lent;
        return bytes_of(*operands_, receives ? step_->to : step_->from, block_count_).bytes;
    }
    [[nodiscard]] bool is_in_cells() const {
        return !operands_->is_enclosed(bytes()) && operands_->fit_into(step_->cells, bytes());
    }
    [[nodiscard]] std::uint64_t cells() const {
        const std::size_t unit = operands_->cell_length();
        return std::max<std::uint64_t>(1, (bytes() + unit - 1) / unit);
    }

    /// What a step moves that stands at `offset`.
    [[nodiscard]] Counts moved(std::size_t offset) const {
        Counts counts{};
        const std::size_t unit = operands_->cell_length();
        switch (step_->code) {
        case Opcode::send_cells: counts[cells_sent] = offset / unit; break;
        case Opcode::receive_cells: counts[cells_received] = offset / unit; break;
        case Opcode::post:
        case Opcode::pull:
            if (offset != 0) {
                const bool sends = step_->code == Opcode::post;
                counts[channel_of(step_->code)] = 1;
                counts[sends ? cells_sent : cells_received] = (offset - 1) / unit;
            }
            break;
        default: break;
        }
        return counts;
    }
    [[nodiscard]] Counts moved_in_all() const {
        Counts counts{};
        const Channel channel = channel_of(step_->code);
        if (channel == channels) {
            return counts;
        }
        switch (step_->code) {
        case Opcode::signal_lent:
        case Opcode::wait_lent:
            counts[channel] = operands_->takes_copy_along(step_->cells, bytes()) ? 0 : 1;
            break;
        case Opcode::send_cells:
        case Opcode::receive_cells: counts[channel] = cells(); break;
        case Opcode::post:
        case Opcode::pull:
            counts[channel] = 1;
            if (is_in_cells()) {
                counts[channel == lines_sent ? cells_sent : cells_received] = cells();
            }
            break;
        default: counts[channel] = 1; break;
        }
        return counts;
    }

    const Step* step_;
    const Operands* operands_;
    std::size_t block_count_;
    std::size_t offset_;
    Counts before_;
};

/// `perform()`, which performs a step that stands at `offset`; in debug builds between assertions.
template <class Env, class Perform>
bool checked(const CompiledStep<Env>& step, const Operands& operands, std::size_t block_count,
             const std::size_t& offset, const Perform& perform) {
    if constexpr (has_debug_assertions) {
        const StepCheck<Env> check(step, operands, block_count, offset);
        const bool is_done = perform();
        check.after(is_done, offset);
        return is_done;
    }
    return perform();
}

} // namespace corymb::team

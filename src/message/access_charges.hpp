// SPDX-License-Identifier: Apache-2.0
// Costs of a message's accesses on a model: with the w/g/r model of cores that write into each
// other's memory, or as transfers of cache lines.
#pragma once

#include "machine/model/curve.hpp"

#include <corymb/mailbox_model.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

namespace corymb::message {

class AccessCharges {
public:
    /// `look` as in MailboxScenario. Keeps a reference to the model.
    AccessCharges(const Machine& machine, std::span<const int> placement, double look)
        : machine_(machine), placement_(placement) {
        const AccessModel& access = machine.access;
        if (!access.present()) {
            look_ = std::isnan(look) ? (machine.unit == TimeUnit::cycles ? 1.5 : 0.5) : look;
            own_update_ = std::max(look_, alone_on_a_word(machine));
            return;
        }
        const double whole = std::isnan(look) ? access.look : look;
        code_ = std::max(0.0, whole - access.own.line.read);
    }

    [[nodiscard]] bool is_coherent() const noexcept { return !machine_.access.present(); }
    [[nodiscard]] std::size_t line_bytes() const noexcept {
        return is_coherent() ? 64 : static_cast<std::size_t>(machine_.access.line_bytes);
    }

    /// Cost of a message of `bytes` in lines that `to` has read: writing it, and reading it when it
    /// is there. Its lines are fetched together. Nothing if the model knows single lines only.
    [[nodiscard]] std::optional<AccessCost> message(Rank from, Rank to, std::size_t bytes) const {
        const Curve* const known =
            !is_coherent() || from == to
                ? nullptr
                : curve_of(machine_.message, machine_.class_of(pu(from), pu(to)));
        if (known == nullptr) {
            return std::nullopt;
        }
        constexpr std::size_t most_bytes = std::size_t{1} << 30U;
        const auto length = static_cast<int>(std::min(bytes, most_bytes));
        const double whole = total_at(*known, std::max(length, known->count.front()));
        const double write = transfer(from, to).write;
        return AccessCost{write, 0, std::max(0.0, whole - write)};
    }
    /// A read-modify-write of a word that this rank has changed last, on coherent caches.
    [[nodiscard]] double own_update() const noexcept { return own_update_; }

    /// Cost of writing a line of memory at `to`, or a line that `to` has read.
    [[nodiscard]] AccessCost line(Rank from, Rank to) const {
        return is_coherent() ? transfer(from, to) : costs(from, to).line;
    }
    [[nodiscard]] AccessCost word(Rank from, Rank to) const {
        return is_coherent() ? transfer(from, to) : costs(from, to).word;
    }
    /// Cost of a look at one's own line or word that has not changed. On coherent caches a changed
    /// line must come from its writer.
    [[nodiscard]] double idle_look(bool at_word) const {
        if (is_coherent()) {
            return look_;
        }
        const AccessCosts& own = machine_.access.own;
        return code_ + (at_word ? own.word.read : own.line.read);
    }
    /// Between 0 and classes: for the nearest and the farthest.
    [[nodiscard]] double distance(Rank from, Rank to) const {
        return line(from, to).write + line(from, to).gap + line(from, to).read;
    }

private:
    [[nodiscard]] int pu(Rank rank) const { return placement_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const AccessCosts& costs(Rank from, Rank to) const {
        const AccessModel& access = machine_.access;
        if (from == to) {
            return access.own;
        }
        return access.classes[static_cast<std::size_t>(machine_.class_of(pu(from), pu(to)))];
    }
    [[nodiscard]] AccessCost transfer(Rank from, Rank to) const {
        if (from == to) {
            return {0, 0, look_};
        }
        return {machine_.send_cost(pu(from), pu(to)), 0, machine_.receive_cost(pu(from), pu(to))};
    }

    /// Time in which one rank changes a word that nobody else does; 0 if the model does not know.
    static double alone_on_a_word(const Machine& machine) {
        double time = 0;
        for (const SharedResource& shared : machine.shared) {
            if (shared.use == SharedUse::word && shared.count.front() == 1) {
                time = std::max(time, shared.value.front());
            }
        }
        return time;
    }

    const Machine& machine_;
    std::span<const int> placement_;
    double look_ = 0;       ///< A look on coherent caches.
    double own_update_ = 0; ///< On coherent caches.
    double code_ = 0;       ///< The code of one look, beside the access.
};

} // namespace corymb::message

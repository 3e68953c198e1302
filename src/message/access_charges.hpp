// SPDX-License-Identifier: Apache-2.0
// Costs of a message's accesses on a model: with the w/g/r model of cores that write into each
// other's memory, or as transfers of cache lines.
#pragma once

#include <corymb/mailbox_model.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
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
            return;
        }
        const double whole = std::isnan(look) ? access.look : look;
        code_ = std::max(0.0, whole - access.own.line.read);
    }

    [[nodiscard]] bool is_coherent() const noexcept { return !machine_.access.present(); }
    [[nodiscard]] std::size_t line_bytes() const noexcept {
        return is_coherent() ? 64 : static_cast<std::size_t>(machine_.access.line_bytes);
    }

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

    const Machine& machine_;
    std::span<const int> placement_;
    double look_ = 0; ///< A look on coherent caches.
    double code_ = 0; ///< The code of one look, beside the access.
};

} // namespace corymb::message

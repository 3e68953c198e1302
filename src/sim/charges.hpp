// SPDX-License-Identifier: Apache-2.0
// The model's charges for events between and within ranks; docs/explain/model.md, "What the
// simulator charges", describes them in words.
#pragma once

#include "sim/transfer.hpp"

#include <corymb/machine.hpp>
#include <corymb/plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace corymb::sim {

/// Length of the model's unit in ns; assumed for cycles of unknown length.
[[nodiscard]] double unit_ns(const Machine& machine);

/// Costs between the ranks of a placement, in the model's unit. Keeps references to its arguments.
class Charges {
public:
    /// `bytes` is the whole payload: it decides at which point of the transfer curves of the
    /// placement's pairs copies run or, without such curves, at which memory level.
    /// Throws Errc::invalid_argument for a PU that the machine does not have.
    Charges(const Machine& machine, std::span<const int> placement, std::uint64_t bytes);

    [[nodiscard]] double send(Rank from, Rank to) const noexcept {
        const int source = pu(from);
        const int target = pu(to);
        return source == target ? shared_send_ : machine_.send_cost(source, target);
    }
    [[nodiscard]] double receive(Rank from, Rank to) const noexcept {
        const int source = pu(from);
        const int target = pu(to);
        return source == target ? shared_receive_ : machine_.receive_cost(source, target);
    }
    /// Time of a meeting via exchange, from the later of the two ends. Without a measured value it
    /// is a message's.
    [[nodiscard]] double meeting(Rank from, Rank to) const noexcept;
    [[nodiscard]] double step_overhead() const noexcept { return machine_.step_overhead; }

    /// Time to copy or combine that many bytes; 0 for a payload that fits a line, which costs no
    /// more than the line.
    [[nodiscard]] double copying(std::uint64_t bytes) const noexcept {
        return bytes <= line_payload_bytes ? 0 : static_cast<double>(bytes) * per_byte_;
    }

    /// Time to copy that many bytes within a rank: out of its own cache, if that was measured.
    [[nodiscard]] double copying_own(std::uint64_t bytes) const noexcept {
        return bytes <= line_payload_bytes ? 0 : static_cast<double>(bytes) * per_own_byte_;
    }

    /// Time to copy that many bytes into cells that their receiver has read before.
    [[nodiscard]] double storing(std::uint64_t bytes) const noexcept;
    /// Time to copy or combine that many bytes out of cells that their sender has just filled.
    [[nodiscard]] double fetching(std::uint64_t bytes) const noexcept;
    /// What a rank has taken longer to write that many bytes that it lends: their lines had to
    /// come back from the peer that copied them in the call before. 0 where that was not measured.
    [[nodiscard]] double rewriting(std::uint64_t bytes) const noexcept {
        return fresh_ && bytes > line_payload_bytes ? fresh_->writing(bytes) : 0;
    }
    /// Whether `rewriting` takes any time.
    [[nodiscard]] bool knows_rewriting() const noexcept { return fresh_.has_value(); }

    /// Time to copy or combine that many bytes out of a peer's buffer. If the model knows how long
    /// fresh bytes take, all are, for their owner has written them before the call or in it. If
    /// not, bytes that the peer wrote during the operation are: they take as long again where
    /// bandwidths were measured (two CPUs of one package: 2.2 times).
    [[nodiscard]] double pulling(std::uint64_t bytes, bool folds, bool is_fresh) const noexcept;

    /// Time to copy that many bytes into a peer's buffer or, if it `folds`, to combine them there
    /// with as many of the peer's.
    [[nodiscard]] double pushing(std::uint64_t bytes, bool folds, bool is_fresh) const noexcept;

    /// Factor on the cost of the `count`-th send in a row; `same` says all went to one receiver.
    [[nodiscard]] double send_factor(Rank from, Rank to, int count, bool same) const noexcept;
    /// Factor on the cost of the `count`-th receive in a row whose message was already there.
    [[nodiscard]] double receive_factor(Rank from, Rank to, int count) const noexcept;
    /// Time from the end of a store until the `place`-th of its readers (from 1) has it. Without a
    /// measured curve the line is handed to one reader after the other; `ahead` is the cost of
    /// sending to the readers before this one.
    [[nodiscard]] double publication_delay(Rank from, Rank reader, int place,
                                           double ahead) const noexcept;
    [[nodiscard]] int pu(Rank rank) const noexcept {
        return placement_[static_cast<std::size_t>(rank)];
    }

private:
    [[nodiscard]] int pair_class(Rank from, Rank to) const noexcept;
    void find_shared_costs();

    const Machine& machine_;
    std::span<const int> placement_;
    double per_byte_ = 0;
    double per_own_byte_ = 0;
    /// Among threads, if the model knows them. Teams of processes time their copies themselves.
    std::optional<FreshBytes> fresh_;
    // Two ranks on one PU take turns on it; the model's best number for that is its cheapest class.
    double shared_send_ = 0;
    double shared_receive_ = 0;
};

} // namespace corymb::sim

// SPDX-License-Identifier: Apache-2.0
#include "plan/reuse.hpp"

#include "plan/block_map.hpp"
#include "plan/happens_before.hpp"
#include "plan/places.hpp"
#include "plan/refuse.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace corymb::plan {

namespace {

/// The next step of a rank that does something with a block, seen while walking backwards through
/// its program.
struct Next {
    StepNumber step = no_step;

    bool operator==(const Next&) const = default;
    [[nodiscard]] Next advanced(std::uint32_t) const noexcept { return *this; }
};

/// Collects the order that the buffers of one rank need.
class Loans {
public:
    Loans(const Matching& matching, Rank rank, std::vector<OrderQuery>& queries)
        : matching_(matching), rank_(rank), queries_(queries) {}

    void collect() {
        const StepNumber first = matching_.first_step(rank_);
        const StepNumber end = matching_.end_step(rank_);
        for (StepNumber number = first; number < end && !has_offers_; ++number) {
            has_offers_ = matching_.step(number).kind == StepKind::offer;
        }
        for (StepNumber number = end; number-- > first;) {
            const Step& step = matching_.step(number);
            const bool is_read_in_place = step.via == Mechanism::pull ||
                                          step.via == Mechanism::network ||
                                          step.via == Mechanism::push;
            if (is_read_in_place && !has_source(step.kind) && step.from.count > 0) {
                lend(number, step);
            }
            if (step.kind == StepKind::offer) {
                await_put(number, step);
            }
            note(number, step);
        }
    }

private:
    /// By memory: input and output count as one, because the caller may give one buffer for both.
    using NextSteps = std::array<BlockMap<Next>, 2>;

    template <class Visit>
    void for_each(const NextSteps& next, const Blocks& blocks, Visit visit) const {
        next[memory_of(blocks)].for_each(place_of(blocks), blocks.count,
                                         [&](const auto& range) { visit(range.value.step); });
    }
    void assign(NextSteps& next, const Blocks& blocks, StepNumber number) const {
        next[memory_of(blocks)].assign(place_of(blocks), blocks.count, {number});
    }
    static std::size_t memory_of(const Blocks& blocks) {
        return blocks.buffer == Buffer::scratch ? 1 : 0;
    }
    [[nodiscard]] std::uint32_t place_of(const Blocks& blocks) const {
        return blocks.first + memory_offset(matching_.plan(), rank_, blocks.buffer);
    }

    /// The next writes to lent blocks.
    struct Writes {
        StepNumber own = no_step; ///< The rank's own.
        std::vector<StepNumber> others;
    };
    [[nodiscard]] Writes writes_to(const Blocks& blocks) const {
        Writes writes;
        for_each(next_write_, blocks, [&](StepNumber write) {
            if (matching_.step(write).kind != StepKind::offer) {
                writes.own = std::min(writes.own, write);
            } else if (writes.others.empty() || writes.others.back() != matching_.partner(write)) {
                writes.others.push_back(matching_.partner(write));
            }
        });
        return writes;
    }

    /// Each reader of `from` must be done before the rank writes where it reads.
    void lend(StepNumber number, const Step& step) {
        const auto ask = [&](StepNumber reader, const Writes& writes) {
            // A rank waits for the network at its end.
            if (writes.own != no_step || step.via != Mechanism::network) {
                queries_.push_back({reader, rank_, writes.own});
            }
            for (const StepNumber put : writes.others) {
                queries_.push_back({reader, matching_.rank_of(put), put});
            }
        };
        const Writes to_all = writes_to(step.from);
        if (step.kind != StepKind::publish) {
            ask(matching_.partner(number), to_all);
            return;
        }
        const bool is_written = to_all.own != no_step || !to_all.others.empty();
        for (const StepNumber reader : matching_.readers(number)) {
            const Blocks taken = taken_blocks(step, matching_.step(reader));
            const bool takes_all = taken.count == step.from.count;
            ask(reader, !is_written || takes_all ? to_all : writes_to(taken));
        }
    }

    /// A peer's write into `to` must be there before the rank touches `to` again, or ends.
    void await_put(StepNumber offer, const Step& step) {
        StepNumber before = no_step;
        for_each(next_touch_, step.to, [&](StepNumber touch) { before = std::min(before, touch); });
        queries_.push_back({matching_.partner(offer), rank_, before});
    }

    void note(StepNumber number, const Step& step) {
        if (uses_to(step.kind)) {
            assign(next_write_, step.to, number);
        }
        if (has_offers_) {
            assign(next_touch_, step.from, number);
            assign(next_touch_, step.to, number);
        }
    }

    const Matching& matching_;
    Rank rank_;
    std::vector<OrderQuery>& queries_;
    bool has_offers_ = false;
    /// The next write by the rank, or by a peer that it has offered the block.
    NextSteps next_write_;
    NextSteps next_touch_; ///< Any use; kept for ranks with offers only.
};

[[noreturn]] void refuse_query(const Matching& matching, const OrderQuery& query) {
    const StepNumber lent = matching.partner(query.source);
    const Rank owner = matching.rank_of(lent);
    const bool is_put = is_putting(matching.step(query.source).kind);
    const std::string user = "rank " + std::to_string(matching.rank_of(query.source)) +
                             " may still be " + (is_put ? "at" : "reading") + " them in its step " +
                             std::to_string(matching.index_of(query.source));
    if (query.rank != owner) {
        refuse(matching.plan(), query.rank, matching.index_of(query.before),
               "overwrites blocks that rank " + std::to_string(owner) + " has also lent: " + user);
    }
    if (query.before != no_step) {
        refuse(matching.plan(), query.rank, matching.index_of(query.before),
               is_put ? "uses blocks that were offered to be written: " + user
                      : "overwrites blocks that were given out by pull or to the network: " + user);
    }
    refuse(matching.plan(), query.rank, matching.index_of(lent),
           (is_put ? "offers blocks" : "gives out blocks by pull") +
               std::string(", but this rank can come to its end while ") + user +
               "; it must wait for an acknowledgement");
}

} // namespace

std::vector<OrderQuery> reuse_queries(const Matching& matching) {
    std::vector<OrderQuery> queries;
    for (Rank rank = 0; rank < matching.plan().size(); ++rank) {
        Loans(matching, rank, queries).collect();
    }
    return queries;
}

void check_reuse(const Matching& matching, std::span<const StepNumber> order) {
    const std::vector<OrderQuery> queries = reuse_queries(matching);
    if (queries.empty()) {
        return;
    }
    const auto failed = unordered_queries(matching, order, queries);
    if (!failed.empty()) {
        const auto lent = [&](std::size_t query) {
            return std::pair{queries[query].rank, matching.partner(queries[query].source)};
        };
        const std::size_t first =
            *std::min_element(failed.begin(), failed.end(),
                              [&](std::size_t a, std::size_t b) { return lent(a) < lent(b); });
        refuse_query(matching, queries[first]);
    }
}

} // namespace corymb::plan

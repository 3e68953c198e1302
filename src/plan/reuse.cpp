// SPDX-License-Identifier: Apache-2.0
#include "plan/reuse.hpp"

#include "plan/block_map.hpp"
#include "plan/happens_before.hpp"
#include "plan/places.hpp"
#include "plan/refuse.hpp"
#include "plan/step_kind.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace corymb::plan {

namespace {

/// The next step of a rank that writes a block, seen while walking backwards through its program.
struct NextWrite {
    StepNumber step = no_step;

    bool operator==(const NextWrite&) const = default;
    [[nodiscard]] NextWrite advanced(std::uint32_t) const noexcept { return *this; }
};

/// input and output count as one: the caller may give the same memory for both.
std::size_t memory_of(Buffer buffer) {
    return buffer == Buffer::scratch ? 1 : 0;
}

void collect_queries(const Matching& matching, Rank rank, std::vector<OrderQuery>& queries) {
    BlockMap<NextWrite> next_write[2];
    const auto first_of = [&](const Blocks& blocks) {
        return blocks.first + memory_offset(matching.plan(), rank, blocks.buffer);
    };
    for (StepNumber number = matching.end_step(rank); number-- > matching.first_step(rank);) {
        const Step& step = matching.step(number);
        const bool sends_far = step.via == Mechanism::network;
        if ((step.via == Mechanism::pull || sends_far) && !has_source(step.kind)) {
            StepNumber before = no_step;
            next_write[memory_of(step.from.buffer)].for_each(
                first_of(step.from), step.from.count,
                [&](const auto& range) { before = std::min(before, range.value.step); });
            if (step.kind == StepKind::publish) {
                for (const StepNumber reader : matching.readers(number)) {
                    queries.push_back({reader, rank, before});
                }
            } else if (!sends_far ||
                       before != no_step) { // At its end, a rank waits for the network.
                queries.push_back({matching.partner(number), rank, before});
            }
        }
        if (uses_to(step.kind)) {
            next_write[memory_of(step.to.buffer)].assign(first_of(step.to), step.to.count,
                                                         {number});
        }
    }
}

[[noreturn]] void refuse_query(const Matching& matching, const OrderQuery& query) {
    const std::string reader = "rank " + std::to_string(matching.rank_of(query.source)) +
                               " may still be reading them in its step " +
                               std::to_string(matching.index_of(query.source));
    if (query.before != no_step) {
        refuse(matching.plan(), query.rank, matching.index_of(query.before),
               "overwrites blocks that were given out by pull or to the network: " + reader);
    }
    const StepNumber lent = matching.partner(query.source);
    refuse(matching.plan(), query.rank, matching.index_of(lent),
           "gives out blocks by pull, but this rank can come to its end while " + reader +
               "; it must wait for an acknowledgement");
}

} // namespace

std::vector<OrderQuery> reuse_queries(const Matching& matching) {
    std::vector<OrderQuery> queries;
    for (Rank rank = 0; rank < matching.plan().size(); ++rank) {
        collect_queries(matching, rank, queries);
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

// SPDX-License-Identifier: Apache-2.0
#include "team/disagreement.hpp"

#include "team/blame.hpp"

#include <corymb/detail/contents.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace corymb::detail {

namespace {

using Log = team::CallLog<team::Env>;

/// Ranks that have called the same.
struct Party {
    team::CallTerms terms;
    std::vector<Rank> ranks;
};

/// The parties in operation `number`, the largest first.
std::vector<Party> parties(const std::vector<const Log*>& logs, std::uint64_t number) {
    std::vector<Party> all;
    for (std::size_t rank = 0; rank < logs.size(); ++rank) {
        const auto terms = logs[rank]->read(number);
        if (!terms) {
            continue;
        }
        auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Party& party) { return party.terms == *terms; });
        if (found == all.end()) {
            found = all.insert(all.end(), {*terms, {}});
        }
        found->ranks.push_back(static_cast<Rank>(rank));
    }
    std::sort(all.begin(), all.end(), [](const Party& left, const Party& right) {
        return left.ranks.size() != right.ranks.size() ? left.ranks.size() > right.ranks.size()
                                                       : left.ranks.front() < right.ranks.front();
    });
    return all;
}

team::Failure failure_of(TeamShared& shared, std::uint64_t number, team::LaneId lane,
                         const std::vector<Party>& all) {
    team::Failure failure{Errc::mismatch, "", {}};
    std::vector<std::string> texts;
    for (const Party& party : all) {
        texts.push_back(
            fmt::format("{} in {}", names_of(shared, party.ranks), describe(party.terms)));
        if (&party != &all.front()) {
            failure.ranks.insert(failure.ranks.end(), party.ranks.begin(), party.ranks.end());
        }
    }
    std::sort(failure.ranks.begin(), failure.ranks.end());
    failure.text = fmt::format(
        "the ranks of a team of {} differ in operation {}{}: {}; all ranks call the "
        "same operations in the same order, with the same root, size and type",
        shared.fabric.size(), number, lane == 0 ? std::string() : fmt::format(" on lane {}", lane),
        fmt::join(texts, "; "));
    return failure;
}

const char* name_of(OtherElements elements) noexcept {
    switch (elements) {
    case OtherElements::records: return "records";
    case OtherElements::text: return "text";
    case OtherElements::bytes: return "strings of bytes";
    case OtherElements::long_doubles: return "long double";
    case OtherElements::complex_long_doubles: return "complex long double";
    default: return "other elements";
    }
}

std::string elements_of(std::uint32_t identity) {
    const std::uint32_t upper = (identity - 1U) / 256U;
    const std::uint32_t lower = (identity - 1U) % 256U;
    if (lower == other_byte_order) {
        return fmt::format("{} of the other byte order", to_string(type_of_identity(identity)));
    }
    if (lower > other_byte_order || upper < first_other) {
        return to_string(type_of_identity(identity));
    }
    const std::uint32_t other = upper - first_other;
    return fmt::format("{} (digest of the format {:x})",
                       name_of(static_cast<OtherElements>(other / other_span)),
                       other % other_span * 256U + lower);
}

std::string describe(const ObjectCall& object, const team::CallTerms& terms) {
    std::string text = fmt::format("{} of an object", to_string(object.called));
    if (object.with) {
        text += fmt::format(" with {}", to_string(*object.with));
    }
    const bool says_root = is_rooted(object.called) && is_rooted(team::op_of(terms));
    return says_root ? fmt::format("{}, root {}", text, team::root_of(terms)) : text;
}

} // namespace

std::string describe(const team::CallTerms& terms) {
    const Collective op = team::op_of(terms);
    if (op == Collective::barrier) {
        return std::string(to_string(op));
    }
    const std::uint32_t identity = team::identity_of(terms);
    if (const auto object = object_call_of_identity(identity)) {
        return describe(*object, terms);
    }
    std::string text = fmt::format("{} of {} bytes", to_string(op), terms.bytes);
    if (team::is_vector(terms)) {
        text = fmt::format("{}v", to_string(op));
        if (terms.bytes != 0) {
            text += fmt::format(" with counts of digest {:012x}", terms.bytes);
        }
    }
    if (identity != 0) {
        text += " of " + elements_of(identity);
        if (is_reduction(op)) {
            text += fmt::format(" with {}", to_string(operator_of_identity(identity)));
        }
    }
    if (team::is_in_rank_order(terms)) {
        text += ", in rank order";
    }
    if (is_rooted(op)) {
        text += fmt::format(", root {}", team::root_of(terms));
    }
    if (team::is_reproducible(terms)) {
        text += ", reproducible";
    }
    return text;
}

std::optional<team::Failure> disagreement(TeamShared& shared, team::LaneId lane,
                                          std::uint64_t last) {
    std::vector<const Log*> logs;
    auto edges = shared.lane(lane);
    for (Rank rank = 0; rank < shared.fabric.size(); ++rank) {
        logs.push_back(lane == 0 ? &shared.fabric.state(rank).calls
                                 : &edges.lane_state(rank).calls);
    }
    for (std::uint64_t number = last < Log::entries ? 1 : last - Log::entries + 1; number <= last;
         ++number) {
        const auto all = parties(logs, number);
        if (all.size() > 1) {
            return failure_of(shared, number, lane, all);
        }
    }
    return std::nullopt;
}

team::Failure foreign_message(TeamShared& shared, Rank rank) {
    return {Errc::mismatch,
            fmt::format("{} has met a message that belongs to another call: ranks have called "
                        "different operations, or sent and received different numbers of bytes or "
                        "different kinds of contents",
                        shared.name_of(rank)),
            {}};
}

} // namespace corymb::detail

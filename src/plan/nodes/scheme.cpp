// SPDX-License-Identifier: Apache-2.0
#include "plan/nodes/scheme.hpp"

#include "machine/model/nearness.hpp"
#include "plan/limits.hpp"
#include "plan/tuning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <numeric>
#include <system_error>
#include <utility>

namespace corymb::nodes {

namespace {

constexpr std::array<std::pair<Roles, std::string_view>, 6> role_names{
    {{Roles::flat, "flat"},
     {Roles::lanes, "lanes"},
     {Roles::node_major, "node-major"},
     {Roles::slices, "slices"},
     {Roles::objects, "objects"},
     {Roles::runs, "runs"}}};
constexpr std::array<std::pair<Exchange, std::string_view>, 7> exchange_names{
    {{Exchange::doubling, "doubling"},
     {Exchange::ring, "ring"},
     {Exchange::bruck, "bruck"},
     {Exchange::binomial, "binomial"},
     {Exchange::dissemination, "dissemination"},
     {Exchange::folding, "folding"},
     {Exchange::direct, "direct"}}};
constexpr std::array<std::pair<Inside, std::string_view>, 2> inside_names{
    {{Inside::messages, "messages"}, {Inside::shared, "shared"}}};

constexpr std::string_view pieces_word = "pieces-";
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
    return std::ranges::find(table, value, [](const auto& entry) { return entry.first; })->second;
}

/// Takes the text up to the next slash away.
std::string_view next_word(std::string_view& rest) {
    const std::string_view word = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
}

/// Removes the next word if it is `word`.
bool take_word(std::string_view word, std::string_view& rest) {
    const bool is_next = rest.substr(0, rest.find('/')) == word;
    if (is_next) {
        next_word(rest);
    }
    return is_next;
}

template <class Table, class Value>
bool take(const Table& table, std::string_view word, Value& value) {
    const auto found =
        std::ranges::find(table, word, [](const auto& entry) { return entry.second; });
    if (found == table.end()) {
        return false;
    }
    value = found->first;
    return true;
}

/// A positive number, and nothing else.
template <class Number>
bool take_number(std::string_view word, Number& number) {
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    return error == std::errc{} && stop == end && number >= 1;
}

/// Copies out of scratch and messages of a rank; beyond this a plan is too large to be worth it.
constexpr std::uint64_t steps_most = std::uint64_t{1} << 23;

/// Whether a node may have so many leaders' roles. If a node has fewer ranks, each leads several
/// times: at most as often as an edge within the node holds messages at a time. A rank that is
/// alone has no such edges.
bool can_lead(const Layout& layout, int leaders) {
    constexpr std::size_t held = line_slots;
    const auto all = static_cast<std::size_t>(leaders);
    return std::ranges::all_of(layout.nodes, [all](const std::vector<Rank>& node) {
        return node.size() == 1 || (all + node.size() - 1) / node.size() <= held;
    });
}

bool applies_to_allgather(const Layout& layout, const Scheme& scheme) {
    const auto ranks = static_cast<std::uint64_t>(layout.size());
    const auto nodes = static_cast<std::uint64_t>(layout.nodes.size());
    const auto leaders = static_cast<std::uint64_t>(scheme.leaders);
    std::uint64_t positions = nodes;
    if (scheme.roles == Roles::flat || scheme.roles == Roles::node_major) {
        positions = 0;
        for (const auto& node : layout.nodes) {
            positions += scheme.roles == Roles::flat
                             ? node.size()
                             : std::min<std::uint64_t>(leaders, node.size());
        }
    }
    if (scheme.roles == Roles::runs || (scheme.roles == Roles::flat && scheme.early)) {
        return false; // Nothing is combined; there is nobody to give anything to.
    }
    if (scheme.roles == Roles::slices) {
        return scheme.exchange == Exchange::doubling && scheme.early && layout.is_block() &&
               std::has_single_bit(nodes);
    }
    if (scheme.roles == Roles::objects) {
        const std::uint64_t copies = layout.is_block() ? 2 : ranks;
        return scheme.exchange == Exchange::bruck && scheme.early && ranks * copies <= steps_most;
    }
    const bool one_lane =
        layout.is_block() && (scheme.leaders == 1 || scheme.roles != Roles::lanes);
    const std::uint64_t copies = one_lane ? 2 : layout.is_block() ? nodes * leaders : ranks;
    // Doubling and Bruck have few messages a rank, a ring as many as there are positions.
    const bool is_ring = scheme.exchange == Exchange::ring;
    const std::uint64_t steps = is_ring ? std::max(positions * leaders, copies) : copies;
    return ranks * steps <= steps_most &&
           (is_ring || scheme.exchange == Exchange::bruck ||
            (scheme.exchange == Exchange::doubling && std::has_single_bit(positions)));
}

/// Whether the scheme has one piece, or its pieces are long enough and not too many.
bool applies_in_pieces(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    const std::uint64_t all = scheme.pieces * static_cast<std::uint64_t>(scheme.leaders);
    return scheme.pieces == 1 ||
           (!tuning::piece_bytes_least.decides(bytes < all * tuning::piece_bytes_least) &&
            scheme.pieces * static_cast<std::uint64_t>(layout.size()) <= steps_most);
}

/// Broadcast and reduce by several leaders of some node, or by one. A slice is as good as a piece.
bool applies_up_or_down(Collective op, const Layout& layout, const Scheme& scheme,
                        std::uint64_t bytes) {
    const bool is_known = scheme.roles == Roles::flat || scheme.roles == Roles::lanes ||
                          (op == Collective::reduce && scheme.roles == Roles::runs);
    if (!is_known || scheme.early || !applies_in_pieces(layout, scheme, bytes) ||
        (scheme.exchange != Exchange::binomial &&
         (scheme.exchange != Exchange::ring || scheme.pieces == 1))) {
        return false;
    }
    if (scheme.roles == Roles::flat || scheme.leaders == 1) {
        return true;
    }
    const auto largest = std::ranges::max(layout.nodes, {}, &std::vector<Rank>::size).size();
    const auto leaders = static_cast<std::uint64_t>(scheme.leaders);
    const std::uint64_t slices = scheme.pieces * leaders;
    return scheme.roles == Roles::lanes && layout.nodes.size() > 1 && leaders <= largest &&
           !tuning::piece_bytes_least.decides(bytes < slices * tuning::piece_bytes_least) &&
           slices * static_cast<std::uint64_t>(layout.size()) <= steps_most;
}

/// No more than a run has ranks, nor, where a node has several runs, messages that an edge within
/// it holds at a time: a run of one rank leads in everything.
int run_leaders_most(const Layout& layout) {
    std::size_t most = 1;
    const Layout runs = layout.runs();
    for (const auto& run : runs.nodes) {
        most = std::max(most, run.size());
    }
    if (runs.nodes.size() > layout.nodes.size()) {
        most = std::min(most, line_slots);
    }
    return static_cast<int>(most);
}

bool applies_to_allreduce(const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    const auto positions = scheme.roles == Roles::flat ? static_cast<std::uint64_t>(layout.size())
                                                       : layout.nodes.size();
    const bool in_runs = scheme.roles == Roles::runs;
    const auto leaders = static_cast<std::uint64_t>(scheme.leaders);
    const bool cuts = scheme.exchange == Exchange::ring;
    const bool folds = scheme.exchange == Exchange::folding && scheme.roles == Roles::lanes &&
                       layout.fastest >= 2 && layout.fastest < layout.nodes.size();
    if (in_runs && scheme.leaders > 1 && scheme.leaders > run_leaders_most(layout)) {
        return false;
    }
    // Blocks of a few bytes are not worth a message; a ring has a message for each of them.
    return (scheme.roles == Roles::flat || scheme.roles == Roles::lanes || in_runs) &&
           !scheme.early &&
           (scheme.exchange == Exchange::doubling || folds ||
            (cuts && !in_runs && scheme.pieces == 1)) &&
           bytes >= 8 * leaders * (cuts ? positions : 1) &&
           (!cuts || positions * positions * leaders <= steps_most) &&
           applies_in_pieces(layout, scheme, bytes);
}

bool is_scan(Collective op) {
    return op == Collective::scan || op == Collective::exscan;
}

/// Operations in which every rank has a part for each, or of each; scans.
bool applies_to_parts(Collective op, const Layout& layout, const Scheme& scheme,
                      std::uint64_t bytes) {
    const bool in_runs = op == Collective::reduce_scatter && scheme.roles == Roles::runs;
    if ((scheme.roles != Roles::flat && scheme.roles != Roles::lanes && !in_runs) || scheme.early) {
        return false;
    }
    const auto ranks = static_cast<std::uint64_t>(layout.size());
    const std::uint64_t actors = scheme.roles == Roles::flat ? ranks : layout.nodes.size();
    const bool is_direct = scheme.exchange == Exchange::direct;
    switch (op) {
    case Collective::gather:
    case Collective::scatter: return is_direct || scheme.exchange == Exchange::binomial;
    case Collective::alltoall:
        return (is_direct || scheme.exchange == Exchange::bruck) && 8 * ranks * ranks <= steps_most;
    case Collective::reduce_scatter:
        if (scheme.exchange == Exchange::binomial) {
            return scheme.leaders == 1;
        }
        if (in_runs) {
            return is_direct && layout.runs().nodes.size() == layout.nodes.size() &&
                   scheme.leaders <= run_leaders_most(layout) && 4 * ranks * ranks <= steps_most;
        }
        return (is_direct || scheme.exchange == Exchange::ring ||
                (scheme.exchange == Exchange::doubling && std::has_single_bit(actors))) &&
               4 * ranks * ranks <= steps_most;
    default: // scan, exscan
        return scheme.leaders == 1 &&
               ((scheme.exchange == Exchange::doubling && scheme.pieces == 1) ||
                (scheme.exchange == Exchange::ring && applies_in_pieces(layout, scheme, bytes)));
    }
}

} // namespace

std::string name_of(const Scheme& scheme) {
    std::string name(name_in(role_names, scheme.roles));
    if (scheme.roles != Roles::flat) {
        name += "/" + std::to_string(scheme.leaders);
    }
    name += "/" + std::string(name_in(exchange_names, scheme.exchange));
    name += "/" + std::string(name_in(inside_names, scheme.inside));
    name += scheme.early ? "/early" : "";
    name += scheme.near ? "/near" : "";
    return scheme.pieces == 1
               ? name
               : name + "/" + std::string(pieces_word) + std::to_string(scheme.pieces);
}

std::optional<Scheme> scheme_named(std::string_view name) {
    Scheme scheme;
    if (!take(role_names, next_word(name), scheme.roles)) {
        return std::nullopt;
    }
    if (scheme.roles != Roles::flat &&
        (!take_number(next_word(name), scheme.leaders) ||
         static_cast<std::size_t>(scheme.leaders) > plan::rank_count_max)) {
        return std::nullopt;
    }
    if (!take(exchange_names, next_word(name), scheme.exchange) ||
        !take(inside_names, next_word(name), scheme.inside)) {
        return std::nullopt;
    }
    scheme.early = take_word("early", name);
    scheme.near = take_word("near", name);
    if (name.starts_with(pieces_word) &&
        take_number(name.substr(pieces_word.size()), scheme.pieces)) {
        name = {};
    }
    return name.empty() ? std::optional(scheme) : std::nullopt;
}

std::vector<Scheme> all_schemes(std::span<const int> leaders) {
    constexpr int one = 1;
    std::vector<Scheme> schemes;
    for (const auto& [roles, role] : role_names) {
        for (const auto& [exchange, way] : exchange_names) {
            for (const auto& [inside, steps] : inside_names) {
                for (const bool early : {false, true}) {
                    for (const int count :
                         roles == Roles::flat ? std::span<const int>(&one, 1) : leaders) {
                        for (const std::uint32_t pieces : numbers_of_pieces) {
                            schemes.push_back({roles, count, exchange, inside, early, pieces});
                        }
                    }
                }
            }
        }
    }
    return schemes;
}

Layout::Layout(std::span<const int> places, std::span<const double> message_ns, const Seats& seats)
    : node_of_rank(places.begin(), places.end()) {
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        const auto node = static_cast<std::size_t>(places[rank]);
        nodes.resize(std::max(nodes.size(), node + 1));
        nodes[node].push_back(static_cast<Rank>(rank));
    }
    order_by_speed(message_ns);
    if (seats.place.empty()) {
        return;
    }
    auto other = std::make_shared<Layout>(*this);
    for (auto& ranks : other->nodes) {
        std::ranges::sort(
            ranks, {}, [&seats](Rank rank) { return seats.place[static_cast<std::size_t>(rank)]; });
    }
    if (other->nodes != nodes) {
        other->distance = seats.distance;
        seated = std::move(other);
    }
}

void Layout::order_by_speed(std::span<const double> message_ns) {
    if (std::ranges::adjacent_find(message_ns, std::ranges::not_equal_to{}) == message_ns.end()) {
        return;
    }
    fastest_first.resize(nodes.size());
    std::iota(fastest_first.begin(), fastest_first.end(), std::size_t{0});
    std::ranges::stable_sort(fastest_first, std::ranges::less{},
                             [&](std::size_t node) { return message_ns[node]; });
    fastest =
        static_cast<std::size_t>(std::ranges::count(message_ns, std::ranges::min(message_ns)));
}

Layout Layout::runs() const {
    std::vector<int> run_of_rank(node_of_rank.size(), 0);
    for (std::size_t rank = 1; rank < node_of_rank.size(); ++rank) {
        run_of_rank[rank] =
            run_of_rank[rank - 1] + (node_of_rank[rank] == node_of_rank[rank - 1] ? 0 : 1);
    }
    return Layout(run_of_rank);
}

bool Layout::is_block() const {
    return std::ranges::is_sorted(node_of_rank) &&
           std::ranges::all_of(nodes,
                               [](const auto& ranks) { return std::ranges::is_sorted(ranks); });
}

std::vector<std::vector<Rank>> Layout::groups(std::size_t node, int count) const {
    const std::vector<Rank>& ranks = nodes[node];
    const std::size_t number = std::min(static_cast<std::size_t>(count), ranks.size());
    std::vector<std::vector<Rank>> groups(number);
    for (std::size_t g = 0; g < number; ++g) {
        const auto begin = static_cast<std::ptrdiff_t>(ranks.size() * g / number);
        const auto end = static_cast<std::ptrdiff_t>(ranks.size() * (g + 1) / number);
        groups[g].assign(ranks.begin() + begin, ranks.begin() + end);
        if (!distance.empty()) {
            std::vector<double> far;
            std::ranges::transform(groups[g], std::back_inserter(far), [this](Rank rank) {
                return distance[static_cast<std::size_t>(rank)];
            });
            const auto leader = groups[g].begin() + static_cast<std::ptrdiff_t>(most_central(far));
            std::rotate(groups[g].begin(), leader, leader + 1);
        }
    }
    return groups;
}

std::vector<std::size_t> Layout::order_from(std::size_t first, Exchange exchange) const {
    std::vector<std::size_t> order(nodes.size());
    for (std::size_t p = 0; p < order.size(); ++p) {
        order[p] = (first + p) % order.size();
    }
    if (fastest_first.empty()) {
        return order;
    }
    std::vector<std::size_t> positions(order.size() - 1); // positions with the most children first
    std::iota(positions.begin(), positions.end(), std::size_t{1});
    if (exchange == Exchange::binomial) {
        std::ranges::stable_sort(positions, std::ranges::greater{},
                                 [](std::size_t p) { return std::countr_zero(p); });
    }
    auto position = positions.begin();
    for (const std::size_t node : fastest_first) {
        if (node != first) {
            order[*position++] = node;
        }
    }
    return order;
}

std::vector<std::size_t> Layout::fastest_inside(std::size_t count) const {
    std::vector<std::size_t> order = fastest_first;
    order.resize(nodes.size());
    if (fastest_first.empty()) {
        std::iota(order.begin(), order.end(), std::size_t{0});
    }
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::sort(order.begin(), middle);
    std::sort(middle, order.end());
    return order;
}

bool keeps_order(Collective op, Roles roles) noexcept {
    return !is_reduction(op) || is_scan(op) || roles == Roles::runs;
}

bool applies(Collective op, const Layout& layout, const Scheme& scheme, std::uint64_t bytes) {
    const bool is_simple = !scheme.early && scheme.leaders == 1 &&
                           (scheme.roles == Roles::flat || scheme.roles == Roles::lanes);
    const bool can_be_cut = op == Collective::broadcast || op == Collective::reduce ||
                            op == Collective::allreduce || op == Collective::scan ||
                            op == Collective::exscan;
    if ((scheme.pieces != 1 && !can_be_cut) ||
        (scheme.roles == Roles::lanes && !can_lead(layout, scheme.leaders))) {
        return false;
    }
    if (scheme.near) {
        Scheme as_seated = scheme;
        as_seated.near = false;
        return layout.seated && scheme.roles != Roles::runs && !is_scan(op) &&
               applies(op, *layout.seated, as_seated, bytes);
    }
    switch (op) {
    case Collective::allgather: return applies_to_allgather(layout, scheme);
    case Collective::allreduce: return applies_to_allreduce(layout, scheme, bytes);
    case Collective::broadcast:
    case Collective::reduce: return applies_up_or_down(op, layout, scheme, bytes);
    case Collective::barrier: return is_simple && scheme.exchange == Exchange::dissemination;
    default: return applies_to_parts(op, layout, scheme, bytes);
    }
}

Plan plan_for(Collective op, const Layout& layout, const Scheme& scheme, std::uint64_t bytes,
              Rank root) {
    if (scheme.near) {
        Scheme as_seated = scheme;
        as_seated.near = false;
        Plan plan = plan_for(op, *layout.seated, as_seated, bytes, root);
        plan.algorithm = name_of(scheme);
        return plan;
    }
    switch (op) {
    case Collective::allgather: return allgather(layout, scheme, bytes);
    case Collective::allreduce: return allreduce(layout, scheme, bytes);
    case Collective::broadcast: return broadcast(layout, scheme, bytes, root);
    case Collective::reduce: return reduce(layout, scheme, bytes, root);
    case Collective::gather: return gather(layout, scheme, bytes, root);
    case Collective::scatter: return scatter(layout, scheme, bytes, root);
    case Collective::alltoall: return alltoall(layout, scheme, bytes);
    case Collective::reduce_scatter: return reduce_scatter(layout, scheme, bytes);
    case Collective::scan:
    case Collective::exscan: return scan(op, layout, scheme, bytes);
    default: return barrier(layout, scheme);
    }
}

} // namespace corymb::nodes

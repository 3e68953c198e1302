// SPDX-License-Identifier: Apache-2.0
// Shares the models of the nodes' insides. The first rank of each node tells the likeness of its
// model; rank 0 asks for the model if it knows none that is alike.
#include "base/sha256.hpp"
#include "cluster/patient_carrier.hpp"
#include "cluster/places.hpp"
#include "team/member.hpp"
#include "team/team_shared.hpp"

#include <corymb/carrier.hpp>
#include <corymb/detail/untyped.hpp>
#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace corymb {

namespace {

/// The processor, and the places of the ranks on it. Costs are left out: measured on each machine
/// by itself, they are never equal.
std::string likeness_of(const Machine& machine) {
    std::string all =
        machine.fingerprint.cpu + "\n" + machine.source + "\n" + std::to_string(machine.size());
    for (const Pu& pu : machine.topology.pus) {
        all += fmt::format(" {} {} {} {} {} {} {}", pu.core, pu.l2, pu.l3, pu.die, pu.package,
                           pu.numa, pu.kind);
    }
    all +=
        fmt::format("\n{}\n{}", fmt::join(machine.group, " "), fmt::join(machine.group_class, " "));
    return sha256_hex(all);
}

/// Null where that cannot be found out: others wait for this node's word.
std::shared_ptr<const Machine> inside_of(const detail::TeamShared& local) noexcept {
    try {
        const bool has_something = !local.oversubscribed && local.fabric.size() > 1;
        return has_something && local.inside ? local.inside() : nullptr;
    } catch (const std::exception&) {
        return nullptr;
    }
}

/// The model, behind a line with the data that its file lacks.
std::string text_of(const Machine& machine) {
    return fmt::format("{} {}\n", machine.kernel_copy.start_ns, machine.kernel_copy.gbs) +
           to_json(machine);
}

NodeKind kind_of(const std::string& text) {
    const std::size_t line = text.find('\n');
    if (line == std::string::npos) {
        throw Error(Errc::invalid_model, "the model of a node has no line before it");
    }
    Machine machine = machine_from_json(std::string_view(text).substr(line + 1));
    const char* const end = text.data() + line;
    const char* const space = std::from_chars(text.data(), end, machine.kernel_copy.start_ns).ptr;
    std::from_chars(std::min(space + 1, end), end, machine.kernel_copy.gbs);
    return NodeKind::of_machine(std::move(machine));
}

/// The likeness of nodes without a known model.
const std::string& likeness_of_unknown() {
    static const auto* const spaces = new std::string(64, ' '); // As long as a digest.
    return *spaces;
}

std::string likeness_of(const std::shared_ptr<const Machine>& machine) {
    return machine ? likeness_of(*machine) : likeness_of_unknown();
}

/// For a node's first rank: tells rank 0 its model.
void tell(cluster::PatientCarrier& carrier, const std::shared_ptr<const Machine>& inside) {
    const std::string likeness = likeness_of(inside);
    carrier.send(likeness.data(), likeness.size(), 0);
    char is_wanted = 0;
    carrier.receive(&is_wanted, sizeof is_wanted, 0);
    if (is_wanted != 0) {
        const std::string text = text_of(*inside);
        const std::uint64_t length = text.size();
        carrier.send(&length, sizeof length, 0);
        carrier.send(text.data(), length, 0);
    }
}

/// For rank 0: collects the models of all nodes.
class Listener {
public:
    explicit Listener(std::size_t nodes) {
        insides_.of_node.assign(nodes, -1);
        number_of_.emplace(likeness_of_unknown(), -1);
    }

    void note(std::size_t node, const std::shared_ptr<const Machine>& own) {
        note(node, likeness_of(own), [&] { return NodeKind::of_machine(*own); });
    }
    void listen(cluster::PatientCarrier& carrier, std::size_t node, Rank rank) {
        std::string likeness = likeness_of_unknown();
        carrier.receive(likeness.data(), likeness.size(), rank);
        const char is_wanted = number_of_.contains(likeness) ? 0 : 1;
        carrier.send(&is_wanted, sizeof is_wanted, rank);
        std::string text;
        if (is_wanted != 0) {
            std::uint64_t length = 0;
            carrier.receive(&length, sizeof length, rank);
            text.resize(length);
            carrier.receive(text.data(), length, rank);
        }
        note(node, likeness, [&] { return kind_of(text); });
    }
    [[nodiscard]] Insides insides() && { return std::move(insides_); }

private:
    /// A model that this version cannot read, of another one's, is as none.
    template <class Kind>
    void note(std::size_t node, const std::string& likeness, const Kind& kind) {
        const auto [place, is_new] = number_of_.try_emplace(likeness, -1);
        if (is_new) {
            try {
                insides_.kinds.push_back(kind());
                place->second = static_cast<int>(insides_.kinds.size()) - 1;
            } catch (const Error&) { // The index stays -1.
            }
        }
        insides_.of_node[node] = place->second;
    }

    Insides insides_;
    std::map<std::string, int> number_of_; // by likeness
};

} // namespace

std::string to_text(const Insides& insides) {
    const auto is_measured = [&](int kind) {
        return kind >= 0 &&
               insides.kinds[static_cast<std::size_t>(kind)].machine.source == "measured";
    };
    const auto measured = std::ranges::count_if(insides.of_node, is_measured);
    const auto unknown = std::ranges::count(insides.of_node, -1);
    const auto others = std::ssize(insides.of_node) - measured - unknown;
    std::string text;
    const auto add = [&text](std::ptrdiff_t count, const char* what) {
        if (count != 0) {
            const char* const noun = count == 1 ? " node" : " nodes";
            text += text.empty() ? fmt::format("{}{}{}", count, noun, what)
                                 : fmt::format(", {}{}", count, what);
        }
    };
    add(measured, " as measured");
    add(others, " by topology, not measured");
    add(unknown, " of which nothing is known");
    return text;
}

Insides known_insides(const Team& local, Carrier& carrier, const std::vector<int>& node_of_rank,
                      Rank rank, std::chrono::nanoseconds deadline) {
    cluster::check_places(node_of_rank, rank);
    const auto nodes = static_cast<std::size_t>(std::ranges::max(node_of_rank)) + 1;
    std::vector<Rank> first_of_node(nodes, -1);
    for (std::size_t other = node_of_rank.size(); other-- > 0;) {
        first_of_node[static_cast<std::size_t>(node_of_rank[other])] = static_cast<Rank>(other);
    }
    const auto home = static_cast<std::size_t>(node_of_rank[static_cast<std::size_t>(rank)]);
    if (first_of_node[home] != rank) {
        return {};
    }
    const std::shared_ptr<const Machine> own = inside_of(*detail::Untyped::member(local).shared);
    cluster::PatientCarrier patient(carrier, deadline);
    if (rank != 0) {
        tell(patient, own);
        return {};
    }
    Listener listener(nodes);
    for (std::size_t node = 0; node < nodes; ++node) {
        if (node == home) {
            listener.note(node, own);
        } else {
            listener.listen(patient, node, first_of_node[node]);
        }
    }
    return std::move(listener).insides();
}

} // namespace corymb

// SPDX-License-Identifier: Apache-2.0
// The first rank of each node says the digest of its model; rank 0 asks for those that it does not
// know yet.
#include "base/sha256.hpp"
#include "cluster/insides.hpp"
#include "cluster/patient_carrier.hpp"
#include "cluster/places.hpp"
#include "team/member.hpp"

#include <corymb/cluster_team.hpp>
#include <corymb/detail/untyped.hpp>
#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace corymb {

namespace {

/// The model as a message; the first line is what its file has not. Empty: nothing is known.
std::string text_of(const std::optional<Machine>& inside) {
    return inside ? fmt::format("{} {}\n", inside->kernel_copy.start_ns, inside->kernel_copy.gbs) +
                        to_json(*inside)
                  : "";
}

NodeKind kind_of(const std::string& text) {
    const std::size_t line = text.find('\n');
    Machine machine = machine_from_json(std::string_view(text).substr(line + 1));
    const char* const end = text.data() + line;
    const char* const space =
        std::from_chars(text.data(), end, machine.kernel_copy.start_ns).ptr;
    std::from_chars(std::min(space + 1, end), end, machine.kernel_copy.gbs);
    return NodeKind::of_machine(std::move(machine));
}

/// Of a node's first rank.
void tell(cluster::PatientCarrier& carrier, const std::string& text) {
    const std::string digest = sha256_hex(text);
    carrier.send(digest.data(), digest.size(), 0);
    char answer = 0;
    carrier.receive(&answer, sizeof answer, 0);
    if (answer != 0) {
        const std::uint64_t length = text.size();
        carrier.send(&length, sizeof length, 0);
        carrier.send(text.data(), length, 0);
    }
}

/// Of rank 0.
class Listener {
public:
    explicit Listener(std::size_t nodes) { insides_.of_node.assign(nodes, -1); }

    void note(std::size_t node, const std::string& text) {
        node_of_digest(node, sha256_hex(text), [&] { return text; });
    }
    void listen(cluster::PatientCarrier& carrier, std::size_t node, Rank rank) {
        std::string digest(sha256_hex("").size(), ' ');
        carrier.receive(digest.data(), digest.size(), rank);
        const char wants = number_of_.contains(digest) ? 0 : 1;
        carrier.send(&wants, sizeof wants, rank);
        node_of_digest(node, digest, [&] {
            std::uint64_t length = 0;
            carrier.receive(&length, sizeof length, rank);
            std::string text(length, ' ');
            carrier.receive(text.data(), length, rank);
            return text;
        });
    }
    [[nodiscard]] Insides insides() && { return std::move(insides_); }

private:
    template <class Text>
    void node_of_digest(std::size_t node, const std::string& digest, const Text& text_of_it) {
        const auto [place, is_new] = number_of_.try_emplace(digest, -1);
        if (is_new) {
            if (const std::string text = text_of_it(); !text.empty()) {
                place->second = static_cast<int>(insides_.kinds.size());
                insides_.kinds.push_back(kind_of(text));
            }
        }
        insides_.of_node[node] = place->second;
    }

    Insides insides_;
    std::map<std::string, int> number_of_; // by digest
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
            text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", count,
                                !text.empty()  ? ""
                                : count == 1 ? " node"
                                             : " nodes",
                                what);
        }
    };
    add(measured, " as measured");
    add(others, " by topology, not measured");
    add(unknown, " with one rank, or ranks side by side");
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
    const std::string own = text_of(cluster::inside_of(*detail::Untyped::member(local).shared));
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

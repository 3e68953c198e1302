// SPDX-License-Identifier: Apache-2.0
// Makes a team for the ranks of a communicator on several nodes. Ranks that may share memory try
// it: the first of them makes a segment, the others map it, and a random number goes through it.
// Ranks that have proved it are a node.
#include "agreement/meeting.hpp"
#include "below/library.hpp"
#include "below/node_ranks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace corymb::mpi {

namespace {

/// The card that a rank gives to all others.
struct Card {
    std::uint64_t machine = 0;
    std::uint64_t name = 0; ///< The machine's name: a hash that is equal in other jobs.
    std::uint64_t pid = 0;
    std::uint64_t descriptor = 0;
    std::uint64_t nonce = 0;
    std::uint64_t ranks_per_cpu = 1; ///< Ranks a CPU on its node, as far as the rank knows.
};

/// The nodes and their ranks.
struct Nodes {
    int count = 0;
    std::vector<int> node_of_rank;
    std::vector<int> members; ///< Ranks of the own node, increasing.
    int place = 0;            ///< Place of this rank among them.
};

std::uint64_t bit_of(Objection objection) noexcept {
    return static_cast<std::uint64_t>(objection);
}

/// The objections of all ranks together.
std::uint64_t all_objections(const Group& group, std::uint64_t own) noexcept {
    const Host& mpi = host();
    std::uint64_t all = 0;
    return mpi.Allreduce(&own, &all, 1, mpi.type_uint64, mpi.op_bor, group.comm) == MPI_SUCCESS
               ? all
               : bit_of(Objection::not_attached);
}

bool exchange(const Group& group, const Card& own, std::vector<Card>& all) {
    const Host& mpi = host();
    constexpr int words = sizeof(Card) / sizeof(std::uint64_t);
    all.resize(static_cast<std::size_t>(group.size));
    return mpi.Allgather(&own, words, mpi.type_uint64, all.data(), words, mpi.type_uint64,
                         group.comm) == MPI_SUCCESS;
}

Nodes nodes_of(const std::vector<Card>& cards, int rank) {
    Nodes nodes;
    std::vector<std::uint64_t> machines; // Machines by node.
    for (const Card& card : cards) {
        auto found = std::ranges::find(machines, card.machine);
        nodes.node_of_rank.push_back(static_cast<int>(found - machines.begin()));
        if (found == machines.end()) {
            machines.push_back(card.machine);
        }
    }
    nodes.count = static_cast<int>(machines.size());
    for (int other = 0; other < static_cast<int>(cards.size()); ++other) {
        if (cards[static_cast<std::size_t>(other)].machine ==
            cards[static_cast<std::size_t>(rank)].machine) {
            nodes.place += other < rank ? 1 : 0;
            nodes.members.push_back(other);
        }
    }
    return nodes;
}

/// Attaches to the node's team, and proves it when all have attached; `cards` come from ranks that
/// made memory. Returns the objections of the ranks of all nodes.
std::uint64_t prove(Group& group, const Nodes& nodes, const std::vector<Card>& cards,
                    const Descriptor& memory) {
    const Card& first = cards[static_cast<std::size_t>(nodes.members.front())];
    const auto size = static_cast<int>(nodes.members.size());
    for (const int member : nodes.members) {
        const auto known = static_cast<int>(cards[static_cast<std::size_t>(member)].ranks_per_cpu);
        group.ranks_per_cpu = std::max(group.ranks_per_cpu, known);
    }
    const bool is_attached = attach(group, memory.number(), size, nodes.place) == CORYMB_OK;
    const std::uint64_t objections =
        all_objections(group, is_attached ? 0 : bit_of(Objection::not_attached));
    if (objections != 0) { // Nobody waits in the team for a rank that is not there.
        return objections;
    }
    const bool is_proved = has_nonce(group, nodes.place, first.nonce);
    return all_objections(group, is_proved ? 0 : bit_of(Objection::other_memory));
}

std::string processor_name() {
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    host().Get_processor_name(name, &length);
    return name;
}

/// FNV-1a.
std::uint64_t hash_of(std::uint64_t hash, const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
        hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
    }
    return hash;
}
constexpr std::uint64_t hash_begin = 0xcbf29ce484222325;

/// Variables that choose the network of the MPI.
constexpr const char* transport_variables[] = {
    "FI_PROVIDER",
    "FI_TCP_IFACE",
    "UCX_TLS",
    "UCX_NET_DEVICES",
    "I_MPI_FABRICS",
    "I_MPI_OFI_PROVIDER",
    "MPIR_CVAR_CH4_NETMOD",
    "OMPI_MCA_pml",
    "OMPI_MCA_btl",
    "OMPI_MCA_mtl",
    "OMPI_MCA_btl_tcp_if_include",
    "OMPI_MCA_btl_tcp_if_exclude",
};

/// The key under which the network's costs are kept: the nodes in their order, the MPI, and the
/// variables that tell it how to reach them.
std::string network_key(const Nodes& nodes, const std::vector<Card>& cards) {
    std::uint64_t all = hash_begin;
    int count = 0;
    for (std::size_t rank = 0; rank < cards.size(); ++rank) {
        if (nodes.node_of_rank[rank] == count) { // The first of its node.
            ++count;
            all = hash_of(all, &cards[rank].name, sizeof cards[rank].name);
        }
    }
    for (const char* const name : transport_variables) {
        const char* const value = std::getenv(name);
        const std::string text = value != nullptr ? value : "";
        all = hash_of(all, text.c_str(), text.size() + 1);
    }
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    host().Get_library_version(version, &length);
    std::string key = processor_name() + " and " + std::to_string(count - 1) + " more, in all " +
                      std::to_string(all) + ", by " + std::string(version).substr(0, 80);
    std::ranges::replace(key, '\n', ' ');
    return key;
}

/// Whether the network has been measured, as this rank knows; false also without memory.
bool knows_network(const Nodes& nodes, const std::vector<Card>& cards) noexcept {
    try {
        const std::string key = network_key(nodes, cards);
        int is_known = 0;
        return library().cluster_knows_network(key.c_str(), nodes.count, &is_known) == CORYMB_OK &&
               is_known != 0;
    } catch (const std::exception&) {
        return false;
    }
}

/// Collective: whether the network is to be measured, which calls have not taken long enough for.
bool is_too_early_to_measure(Group& group, const Nodes& nodes, const std::vector<Card>& cards) {
    if (group.early.wanted_ns == 0 || group.early.wanted_ns >= EarlyCalls::new_network_ns) {
        return false; // Ranks are in a hurry, or have waited for that.
    }
    const bool is_known = group.rank != 0 || knows_network(nodes, cards);
    if (all_objections(group, is_known ? 0 : bit_of(Objection::not_yet)) == 0) {
        return false;
    }
    group.early.wanted_ns = EarlyCalls::new_network_ns;
    return !agree_that_long_enough(group);
}

/// The node's team becomes part of one over all nodes.
std::uint64_t join_nodes(Group& group, const Nodes& nodes, const std::vector<Card>& cards) {
    group.carrier = std::make_unique<MessageCarrier>(group.comm);
    if (!group.carrier->is_whole()) {
        return bit_of(Objection::no_messages);
    }
    corymb_cluster_options options;
    corymb_cluster_options_init(&options);
    options.node_of_rank = nodes.node_of_rank.data();
    options.size = group.size;
    options.rank = group.rank;
    const std::string key = network_key(nodes, cards);
    options.network_key = key.c_str();
    const corymb_carrier carrier = group.carrier->functions();
    switch (library().cluster_team_create(&group.team, &carrier, &options, &group.cluster)) {
    case CORYMB_OK: return 0;
    case CORYMB_INVALID_ARGUMENT: // Everything else is right by construction.
        return bit_of(Objection::wrong_network);
    default: return bit_of(Objection::not_attached);
    }
}

} // namespace

std::uint64_t meet_on_nodes(Group& group, bool is_urgent) {
    Card own;
    std::vector<Card> cards;
    own.machine = machine_and_namespace();
    own.ranks_per_cpu = static_cast<std::uint64_t>(known_ranks_per_cpu());
    const std::string name = processor_name();
    own.name = hash_of(hash_begin, name.data(), name.size());
    if (!exchange(group, own, cards)) {
        return bit_of(Objection::not_attached);
    }
    const Nodes nodes = nodes_of(cards, group.rank);
    if (!is_urgent && is_too_early_to_measure(group, nodes, cards)) {
        return bit_of(Objection::not_yet);
    }
    Descriptor memory;
    std::uint64_t objections = 0;
    if (nodes.place == 0) {
        if (!make_memory(static_cast<int>(nodes.members.size()), memory)) {
            objections = bit_of(Objection::no_memory);
        }
        own.pid = static_cast<std::uint64_t>(::getpid());
        own.descriptor = static_cast<std::uint64_t>(memory.number());
        own.nonce = random_number();
    }
    objections = all_objections(group, objections);
    if (objections != 0 || !exchange(group, own, cards)) {
        return objections | bit_of(Objection::no_memory);
    }
    if (nodes.place != 0) {
        const Card& first = cards[static_cast<std::size_t>(nodes.members.front())];
        open_memory(first.pid, first.descriptor, memory);
    }
    objections = all_objections(group, can_map(memory) ? 0 : bit_of(Objection::not_shared));
    if (objections == 0) {
        objections = prove(group, nodes, cards, memory);
    }
    if (objections == 0) {
        objections = all_objections(group, join_nodes(group, nodes, cards));
    }
    return objections;
}

} // namespace corymb::mpi

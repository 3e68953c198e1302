// SPDX-License-Identifier: Apache-2.0
// Makes a team for the ranks of a communicator on several nodes. Ranks that may share memory try
// it: the first of them makes a segment, the others map it, and a random number goes through it.
// Ranks that have proved it are a node.
#include "agreement/team.hpp"
#include "agreement/trials.hpp"
#include "below/library.hpp"
#include "below/node_ranks.hpp"
#include "policy/tuning.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace corymb::mpi {

namespace {

/// How a rank describes itself to all others.
struct RankDescription {
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

bool exchange(const Communicator& communicator, const RankDescription& own,
              std::vector<RankDescription>& all) {
    const Host& mpi = host();
    constexpr int words = sizeof(RankDescription) / sizeof(std::uint64_t);
    all.resize(static_cast<std::size_t>(communicator.size));
    return mpi.Allgather(&own, words, mpi.type_uint64, all.data(), words, mpi.type_uint64,
                         communicator.comm) == MPI_SUCCESS;
}

Nodes nodes_of(const std::vector<RankDescription>& descriptions, int rank) {
    Nodes nodes;
    std::vector<std::uint64_t> machines; // Machines by node.
    for (const RankDescription& one : descriptions) {
        auto found = std::ranges::find(machines, one.machine);
        nodes.node_of_rank.push_back(static_cast<int>(found - machines.begin()));
        if (found == machines.end()) {
            machines.push_back(one.machine);
        }
    }
    nodes.count = static_cast<int>(machines.size());
    for (int other = 0; other < static_cast<int>(descriptions.size()); ++other) {
        if (descriptions[static_cast<std::size_t>(other)].machine ==
            descriptions[static_cast<std::size_t>(rank)].machine) {
            nodes.place += other < rank ? 1 : 0;
            nodes.members.push_back(other);
        }
    }
    return nodes;
}

/// Attaches to the node's team, and proves it when all have attached; `cards` come from ranks that
/// made memory. Returns the objections of the ranks of all nodes.
std::uint64_t prove(Communicator& communicator, const Nodes& nodes,
                    const std::vector<RankDescription>& descriptions, const Descriptor& memory) {
    const RankDescription& first = descriptions[static_cast<std::size_t>(nodes.members.front())];
    const auto size = static_cast<int>(nodes.members.size());
    for (const int member : nodes.members) {
        const auto known =
            static_cast<int>(descriptions[static_cast<std::size_t>(member)].ranks_per_cpu);
        communicator.ranks_per_cpu = std::max(communicator.ranks_per_cpu, known);
    }
    const bool is_attached = attach(communicator, memory.number(), size, nodes.place) == CORYMB_OK;
    const std::uint64_t objections =
        all_objections(communicator, is_attached ? 0 : bit_of(Objection::not_attached));
    if (objections != 0) { // Nobody waits in the team for a rank that is not there.
        return objections;
    }
    const bool is_proved = has_nonce(communicator, nodes.place, first.nonce);
    return all_objections(communicator, is_proved ? 0 : bit_of(Objection::other_memory));
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
std::string network_key(const Nodes& nodes, const std::vector<RankDescription>& descriptions) {
    std::uint64_t all = hash_begin;
    int count = 0;
    for (std::size_t rank = 0; rank < descriptions.size(); ++rank) {
        if (nodes.node_of_rank[rank] == count) { // The first of its node.
            ++count;
            all = hash_of(all, &descriptions[rank].name, sizeof descriptions[rank].name);
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
bool knows_network(const Nodes& nodes, const std::vector<RankDescription>& descriptions) noexcept {
    try {
        const std::string key = network_key(nodes, descriptions);
        int is_known = 0;
        return library().knows_network(key.c_str(), nodes.count, &is_known) == CORYMB_OK &&
               is_known != 0;
    } catch (const std::exception&) {
        return false;
    }
}

/// Collective: whether the network is to be measured, which calls have not taken long enough for.
bool is_too_early_to_measure(Communicator& communicator, const Nodes& nodes,
                             const std::vector<RankDescription>& descriptions) {
    if (communicator.early.wanted_ns() == 0 ||
        communicator.early.wanted_ns() >= tuning::measured_network_pays_ns) {
        return false; // Ranks are in a hurry, or have waited for that.
    }
    const bool is_known = communicator.rank != 0 || knows_network(nodes, descriptions);
    if (all_objections(communicator, is_known ? 0 : bit_of(Objection::not_yet)) == 0) {
        return false;
    }
    communicator.early.wait_for(tuning::measured_network_pays_ns);
    bool has_team = false; // Between nodes nonblocking calls have none before blocking ones.
    return !agree_that_long_enough(communicator, has_team);
}

/// The node's team becomes part of one over all nodes.
std::uint64_t join_nodes(Communicator& communicator, const Nodes& nodes,
                         const std::vector<RankDescription>& descriptions) {
    communicator.carrier = std::make_unique<MessageCarrier>(communicator.comm);
    if (!communicator.carrier->is_whole()) {
        return bit_of(Objection::no_messages);
    }
    corymb_cluster_options options;
    corymb_cluster_options_init(&options);
    options.node_of_rank = nodes.node_of_rank.data();
    options.size = communicator.size;
    options.rank = communicator.rank;
    const std::string key = network_key(nodes, descriptions);
    options.network_key = key.c_str();
    const corymb_carrier carrier = communicator.carrier->functions();
    switch (library().team_over_nodes(communicator.team, &carrier, &options)) {
    case CORYMB_OK: return 0;
    case CORYMB_INVALID_ARGUMENT: // Everything else is right by construction.
        return bit_of(Objection::wrong_network);
    default: return bit_of(Objection::not_attached);
    }
}

} // namespace

std::uint64_t agree_on_node_teams(Communicator& communicator, bool is_urgent) {
    RankDescription own;
    std::vector<RankDescription> descriptions;
    own.machine = machine_and_namespace();
    own.ranks_per_cpu = static_cast<std::uint64_t>(known_ranks_per_cpu());
    const std::string name = processor_name();
    own.name = hash_of(hash_begin, name.data(), name.size());
    if (!exchange(communicator, own, descriptions)) {
        return bit_of(Objection::not_attached);
    }
    const Nodes nodes = nodes_of(descriptions, communicator.rank);
    if (!is_urgent && is_too_early_to_measure(communicator, nodes, descriptions)) {
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
    objections = all_objections(communicator, objections);
    if (objections != 0 || !exchange(communicator, own, descriptions)) {
        return objections | bit_of(Objection::no_memory);
    }
    if (nodes.place != 0) {
        const RankDescription& first =
            descriptions[static_cast<std::size_t>(nodes.members.front())];
        open_memory(first.pid, first.descriptor, memory);
    }
    objections = all_objections(communicator, can_map(memory) ? 0 : bit_of(Objection::not_shared));
    if (objections == 0) {
        objections = prove(communicator, nodes, descriptions, memory);
    }
    if (objections == 0) {
        objections = all_objections(communicator, join_nodes(communicator, nodes, descriptions));
    }
    return objections;
}

} // namespace corymb::mpi

// SPDX-License-Identifier: Apache-2.0
// Replays plans in SimGrid, a simulator that shares no code with corymb's, and prints when the last
// rank was done: one line of nanoseconds for each plan.
//
//     replay BYTES START_UP_NS GIGABYTES_PER_SECOND NODES PLAN.json...
//
// NODES says where the ranks are, such as 0,0,1,1. Every node has one link each way to a switch
// that is never busy. A send does not wait for its receiver; ranks of one node hand each other
// messages at no cost, so only the network is compared. SimGrid shares a busy link among messages
// fairly, corymb's simulator serves them in the order in which they come.
#include <nlohmann/json.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace sg = simgrid::s4u;

struct Network {
    double start_up_s = 0;
    double bytes_per_s = 0;
};

/// What a rank does to the network in one step.
struct Message {
    bool sends = false;
    int peer = 0;
    std::uint64_t bytes = 0;
};

std::vector<int> numbers(const std::string& list) {
    std::vector<int> result;
    std::istringstream stream(list);
    for (std::string number; std::getline(stream, number, ',');) {
        result.push_back(std::stoi(number));
    }
    return result;
}

/// Bytes of `count` places from `first` on; the last block of a part may be shorter.
std::uint64_t bytes_of(const nlohmann::json& blocks, std::uint64_t part,
                       std::uint64_t block_count) {
    const std::uint64_t block = (part + block_count - 1) / block_count;
    const auto offset = [&](std::uint64_t place) {
        return place / block_count * part + std::min(part, place % block_count * block);
    };
    const std::uint64_t first = blocks.at("first");
    const std::uint64_t count = blocks.at("count");
    return offset(first + count) - offset(first);
}

std::vector<std::vector<Message>> messages_of(const nlohmann::json& plan, std::uint64_t part) {
    std::vector<std::vector<Message>> ranks;
    for (const auto& steps : plan.at("steps")) {
        auto& messages = ranks.emplace_back();
        for (const auto& step : steps) {
            const std::string kind = step.at("step");
            if (kind == "copy") {
                continue;
            }
            Message message;
            message.sends = kind == "send" || kind == "signal";
            if (!message.sends && kind != "recv" && kind != "fold" && kind != "wait") {
                throw std::runtime_error("a step '" + kind + "' is no message between two ranks");
            }
            message.peer = step.at("peer");
            if (kind == "send") {
                message.bytes = bytes_of(step.at("from"), part, plan.at("block_count"));
            }
            messages.push_back(message);
        }
    }
    return ranks;
}

sg::Mailbox* mailbox(int from, int to) {
    return sg::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

/// One rank: sends are left to themselves, receives are waited for.
void act(int rank, const std::vector<Message>& messages, double& done_s) {
    static char token = 0;
    for (const Message& message : messages) {
        if (message.sends) {
            mailbox(rank, message.peer)->put_init(&token, message.bytes)->detach();
        } else {
            mailbox(message.peer, rank)->get<char>();
        }
    }
    done_s = sg::Engine::get_clock();
}

std::vector<sg::Host*> make_nodes(int count, const Network& network) {
    sg::NetZone* const zone = sg::create_star_zone("cluster");
    std::vector<sg::Host*> hosts;
    for (int node = 0; node < count; ++node) {
        const std::string name = "node-" + std::to_string(node);
        sg::Host* const host = zone->create_host(name, 1e9);
        // Half of the start-up on the way to the switch, half on the way from it.
        const sg::Link* const link =
            zone->create_split_duplex_link(name + "-link", network.bytes_per_s)
                ->set_latency(network.start_up_s / 2)
                ->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, sg::LinkInRoute::Direction::UP}}, true);
        sg::Link* const inside = zone->create_link(name + "-inside", 1e18)
                                     ->set_latency(0)
                                     ->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE)
                                     ->seal();
        zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                        {{inside, sg::LinkInRoute::Direction::NONE}});
        hosts.push_back(host);
    }
    zone->seal();
    return hosts;
}

/// Seconds until the last rank is done.
double replay(const std::string& file, std::uint64_t part, const std::vector<int>& nodes,
              const std::vector<sg::Host*>& hosts) {
    std::ifstream stream(file);
    const auto ranks = messages_of(nlohmann::json::parse(stream), part);
    if (ranks.size() != nodes.size()) {
        throw std::runtime_error(file + ": a plan for another number of ranks");
    }
    const double begin_s = sg::Engine::get_clock();
    std::vector<double> done_s(ranks.size(), -1);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        const int self = static_cast<int>(rank);
        const sg::ActorPtr actor = sg::Actor::create(
            "rank-" + std::to_string(rank), hosts.at(static_cast<std::size_t>(nodes[rank])),
            [&, rank, self] { act(self, ranks[rank], done_s[rank]); });
        // A mailbox with a receiver lets a message leave before it is asked for.
        for (const Message& message : ranks[rank]) {
            if (!message.sends) {
                mailbox(message.peer, self)->set_receiver(actor);
            }
        }
    }
    sg::Engine::get_instance()->run();
    if (std::find(done_s.begin(), done_s.end(), -1) != done_s.end()) {
        throw std::runtime_error(file + ": a rank was never done");
    }
    return *std::max_element(done_s.begin(), done_s.end()) - begin_s;
}

int run(int argc, char** argv) {
    sg::Engine engine(&argc, argv);
    xbt_log_control_set("root.thresh:warning");
    // A message takes latency + bytes / bandwidth, with no allowance for what TCP does.
    for (const char* setting :
         {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
          "network/TCP-gamma:0", "network/crosstraffic:false", "surf/precision:1e-12"}) {
        sg::Engine::set_config(setting);
    }
    if (argc < 6) {
        std::fprintf(stderr, "usage: replay BYTES START_UP_NS GB_PER_S NODES PLAN...\n");
        return 2;
    }
    const std::uint64_t part = std::stoull(argv[1]);
    const Network network{std::stod(argv[2]) * 1e-9, std::stod(argv[3]) * 1e9};
    const std::vector<int> nodes = numbers(argv[4]);
    const auto hosts = make_nodes(1 + *std::max_element(nodes.begin(), nodes.end()), network);
    for (int index = 5; index < argc; ++index) {
        std::printf("%.1f\n", replay(argv[index], part, nodes, hosts) * 1e9);
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "replay: %s\n", error.what());
        return 1;
    }
}

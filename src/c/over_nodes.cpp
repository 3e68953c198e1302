// SPDX-License-Identifier: Apache-2.0
// Teams over several nodes.
#include "c/handles.hpp"
#include "c/kept_call.hpp"
#include "c/status.hpp"
#include "team/member.hpp"

#include <corymb/carrier.hpp>
#include <corymb/detail/untyped.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace corymb;

namespace {

/// The caller's functions as the library knows a carrier.
class GivenCarrier final : public Carrier {
public:
    explicit GivenCarrier(const corymb_carrier& given) noexcept : given_(given) {}

    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        Ticket ticket = 0;
        check(
            given_.send(given_.context, data, bytes, to, static_cast<int>(channel), mark, &ticket),
            "send");
        return ticket;
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        Ticket ticket = 0;
        check(given_.receive(given_.context, data, room, from, static_cast<int>(channel), &ticket),
              "receive");
        return ticket;
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        int done = 0;
        check(given_.test(given_.context, ticket, &done, &arrival.bytes, &arrival.mark), "test");
        return done != 0;
    }
    void abandon(Ticket ticket) noexcept override { given_.abandon(given_.context, ticket); }
    [[nodiscard]] int lanes() const noexcept override { return given_.lanes; }
    [[nodiscard]] int own_lanes() const noexcept override { return given_.own_lanes; }
    [[nodiscard]] bool has_notices() const noexcept override { return given_.notices != 0; }

private:
    static void check(int result, const char* what) {
        if (result != 0) {
            throw Error(Errc::team_broken, std::string("the carrier of messages between nodes "
                                                       "failed to ") +
                                               what + ", with " + std::to_string(result));
        }
    }
    corymb_carrier given_;
};

template <class Struct>
void require_size(const Struct& given, const char* init) {
    if (given.struct_size != sizeof given) {
        c::refuse("struct_size is " + std::to_string(given.struct_size) +
                  ", which this version does not have; call " + init + " before you set fields");
    }
}

bool has_two_nodes(const std::vector<int>& node_of_rank) {
    return std::ranges::adjacent_find(node_of_rank, std::ranges::not_equal_to{}) !=
           node_of_rank.end();
}

ClusterOptions options_of(const corymb_cluster_options& given, const Team& local, Carrier& carrier,
                          std::chrono::nanoseconds deadline) {
    require_size(given, "corymb_cluster_options_init");
    c::require(given.node_of_rank, "corymb_cluster_options: node_of_rank");
    ClusterOptions options;
    options.node_of_rank.assign(given.node_of_rank,
                                given.node_of_rank + (given.size > 0 ? given.size : 0));
    options.rank = given.rank;
    options.rehearse = given.without_rehearsals == 0;
    if (given.network != nullptr) {
        const auto most = std::ranges::max_element(options.node_of_rank);
        const int nodes = most == options.node_of_rank.end() ? 1 : std::max(*most, 0) + 1;
        options.networks = networks_from(given.network, nodes);
    } else if (given.network_key != nullptr && has_two_nodes(options.node_of_rank)) {
        options.networks =
            known_networks(carrier, options.node_of_rank, options.rank, given.network_key,
                           std::chrono::milliseconds(500), deadline);
        options.insides =
            known_insides(local, carrier, options.node_of_rank, options.rank, deadline);
    }
    return options;
}

} // namespace

corymb_status corymb_team_over_nodes(corymb_team* team, const corymb_carrier* carrier,
                                     const corymb_cluster_options* options) noexcept {
    return c::guarded([&] {
        corymb_team& handle = c::live(team);
        c::require(carrier, "corymb_team_over_nodes: carrier");
        c::require(options, "corymb_team_over_nodes: options");
        require_size(*carrier, "corymb_carrier_init");
        if (carrier->send == nullptr || carrier->receive == nullptr || carrier->test == nullptr ||
            carrier->abandon == nullptr) {
            c::refuse("a carrier needs all of its functions");
        }
        const c::InHome call(*handle.home);
        auto given = std::make_unique<c::OverNodes>();
        given->carrier = std::make_unique<GivenCarrier>(*carrier);
        const auto deadline_ns = detail::Untyped::member(handle.team).shared->deadline_ns;
        const ClusterOptions its = options_of(*options, handle.team, *given->carrier,
                                              std::chrono::nanoseconds(deadline_ns));
        given->network = to_text(its.networks);
        given->insides = to_text(its.insides);
        handle.team = over_nodes(std::move(handle.team), *given->carrier, its);
        handle.over_nodes = std::move(given);
        for (corymb_call* const kept : handle.calls) { // The ranks are others now.
            kept->known.expect(CollectiveOperation(kept->known.operation()));
        }
    });
}

corymb_status corymb_team_carried(const corymb_team* team, uint64_t* bytes_in,
                                  uint64_t* messages_in, uint64_t* rounds) noexcept {
    return c::guarded([&] {
        c::require(bytes_in, "corymb_team_carried: bytes_in");
        c::require(messages_in, "corymb_team_carried: messages_in");
        c::require(rounds, "corymb_team_carried: rounds");
        const Carried all = carried(c::live(team).team);
        *bytes_in = all.bytes_in;
        *messages_in = all.messages_in;
        *rounds = all.rounds;
    });
}

corymb_status corymb_team_network(const corymb_team* team, const char** network,
                                  const char** insides) noexcept {
    return c::guarded([&] {
        c::require(network, "corymb_team_network: network");
        c::require(insides, "corymb_team_network: insides");
        detail::Untyped::member(c::live(team).team).user.require_own_process();
        const auto& known = team->over_nodes;
        *network = known != nullptr ? known->network.c_str() : "";
        *insides = known != nullptr ? known->insides.c_str() : "";
    });
}

corymb_status corymb_knows_network(const char* network_key, int nodes, int* is_known) noexcept {
    return c::guarded([&] {
        c::require(network_key, "corymb_knows_network: network_key");
        c::require(is_known, "corymb_knows_network: is_known");
        *is_known = knows_network(network_key, nodes) ? 1 : 0;
    });
}

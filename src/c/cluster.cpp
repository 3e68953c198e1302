// SPDX-License-Identifier: Apache-2.0
// Teams over several nodes.
#include "c/calls.hpp"
#include "c/handles.hpp"
#include "c/operators.hpp"
#include "team/member.hpp"

#include <corymb/cluster_team.hpp>
#include <corymb/detail/untyped.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
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

ClusterTeamOptions options_of(const corymb_cluster_options& given, const Team& local,
                              Carrier& carrier, std::chrono::nanoseconds deadline) {
    require_size(given, "corymb_cluster_options_init");
    c::require(given.node_of_rank, "corymb_cluster_options: node_of_rank");
    ClusterTeamOptions options;
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

struct corymb_cluster_team : c::SlotBase<corymb_cluster_team> {
    static constexpr std::uint64_t live_tag = 0x636F72796D620005;
    static constexpr const char* name = "the team over several nodes";
    std::unique_ptr<GivenCarrier> carrier;
    std::optional<ClusterTeam> team;
    std::shared_ptr<detail::TeamShared> shared; ///< Shared by the ranks on this node.
    std::string network, insides;
    c::RequestHome* home = nullptr;
};

namespace {

/// The wish of a call's arguments; see corymb_cluster_run.
detail::Wish wish_of(const corymb_cluster_team& handle, c::Arguments arguments,
                     std::shared_ptr<c::OwnCall>& call) {
    detail::Wish wish;
    wish.op = arguments.op;
    if (wish.op == Collective::barrier) {
        return wish;
    }
    arguments.root = is_rooted(wish.op) ? arguments.root : 0;
    arguments.input = wish.op == Collective::broadcast ? nullptr : arguments.input;
    return c::wish_of({handle.shared, handle.team->rank(), handle.team->size()}, arguments, call);
}

c::Arguments equal(corymb_collective op, const void* input, void* output, size_t count,
                   corymb_type type, corymb_op with, int root) {
    return {c::op_of(op), input, output, count, type, with, root};
}

c::Arguments unequal(corymb_collective op, const void* input, void* output, size_t count,
                     const corymb_part_lists& parts, corymb_type type, corymb_op with, int root) {
    const Collective known = c::op_of(op);
    if (!has_parts(known)) {
        c::refuse(std::string(to_string(known)) + " has no parts that could differ in length");
    }
    const c::PartLists lists{parts.input_counts, parts.input_displacements, parts.output_counts,
                             parts.output_displacements};
    return {known, input, output, count, type, with, root, lists};
}

void run(corymb_cluster_team* team, const c::Arguments& arguments) {
    corymb_cluster_team& handle = c::live(team);
    std::shared_ptr<c::OwnCall> call;
    handle.team->run(wish_of(handle, arguments, call));
    if (call) {
        call->throw_if_broken();
    }
}

using Begin = Request (ClusterTeam::*)(const detail::Wish&, std::shared_ptr<const void>);

/// `arguments()` checks them, too.
template <class Given>
corymb_status give_request(corymb_cluster_team* team, corymb_request** request, Begin begin,
                           const Given& arguments) noexcept {
    return c::guarded([&] {
        c::require(request, "request");
        *request = nullptr;
        corymb_cluster_team& handle = c::live(team);
        const c::InHome call(*handle.home);
        c::NewRequest made(*handle.home);
        corymb_request& own = *made;
        const detail::Wish wish = wish_of(handle, arguments(), own.own_call);
        own.request = (*handle.team.*begin)(wish, own.own_call);
        *request = made.keep();
    });
}

} // namespace

corymb_status corymb_cluster_team_create(corymb_team** local, const corymb_carrier* carrier,
                                         const corymb_cluster_options* options,
                                         corymb_cluster_team** team) noexcept {
    return c::guarded([&] {
        c::require(team, "corymb_cluster_team_create: team");
        *team = nullptr;
        c::require(local, "corymb_cluster_team_create: local");
        corymb_team& taken = c::live(*local);
        detail::Untyped::member(taken.team).user.require_own_process();
        const c::InHome call(*taken.home);
        *local = nullptr;
        Team own = std::move(taken.team);
        auto shared = detail::Untyped::member(own).shared;
        c::free_handle(taken);
        c::require(carrier, "corymb_cluster_team_create: carrier");
        c::require(options, "corymb_cluster_team_create: options");
        require_size(*carrier, "corymb_carrier_init");
        if (carrier->send == nullptr || carrier->receive == nullptr || carrier->test == nullptr ||
            carrier->abandon == nullptr) {
            c::refuse("a carrier needs all of its functions");
        }
        auto messages = std::make_unique<GivenCarrier>(*carrier);
        const ClusterTeamOptions its =
            options_of(*options, own, *messages, std::chrono::nanoseconds(shared->deadline_ns));
        ClusterTeam made(std::move(own), *messages, its);
        auto home = std::make_unique<c::RequestHome>();
        corymb_cluster_team& handle = c::AllSlots<corymb_cluster_team>::take();
        handle.carrier = std::move(messages);
        handle.team.emplace(std::move(made));
        handle.shared = std::move(shared);
        handle.network = to_text(its.networks);
        handle.insides = to_text(its.insides);
        handle.home = home.release();
        *team = &handle;
    });
}

corymb_status corymb_cluster_team_free(corymb_cluster_team** team) noexcept {
    return c::guarded([&] {
        c::require(team, "corymb_cluster_team_free: team");
        if (*team == nullptr) {
            return;
        }
        corymb_cluster_team& handle = c::live(*team);
        const auto call = c::InHome::to_end(*handle.home);
        *team = nullptr;
        handle.team.reset();
        handle.shared.reset();
        handle.carrier.reset();
        c::leave(*std::exchange(handle.home, nullptr));
        c::AllSlots<corymb_cluster_team>::give_back(handle);
    });
}

corymb_status corymb_cluster_run(corymb_collective op, const void* input, void* output,
                                 size_t count, corymb_type type, corymb_op with, int root,
                                 corymb_cluster_team* team) noexcept {
    return c::guarded([&] { run(team, equal(op, input, output, count, type, with, root)); });
}

corymb_status corymb_cluster_run_parts(corymb_collective op, const void* input, void* output,
                                       size_t count, corymb_part_lists parts, corymb_type type,
                                       corymb_op with, int root,
                                       corymb_cluster_team* team) noexcept {
    return c::guarded(
        [&] { run(team, unequal(op, input, output, count, parts, type, with, root)); });
}

corymb_status corymb_cluster_start(corymb_collective op, const void* input, void* output,
                                   size_t count, corymb_type type, corymb_op with, int root,
                                   corymb_cluster_team* team, corymb_request** request) noexcept {
    return give_request(team, request, &ClusterTeam::start,
                        [&] { return equal(op, input, output, count, type, with, root); });
}

corymb_status corymb_cluster_start_parts(corymb_collective op, const void* input, void* output,
                                         size_t count, corymb_part_lists parts, corymb_type type,
                                         corymb_op with, int root, corymb_cluster_team* team,
                                         corymb_request** request) noexcept {
    return give_request(team, request, &ClusterTeam::start,
                        [&] { return unequal(op, input, output, count, parts, type, with, root); });
}

corymb_status corymb_cluster_prepare(corymb_collective op, const void* input, void* output,
                                     size_t count, corymb_type type, corymb_op with, int root,
                                     corymb_cluster_team* team, corymb_request** request) noexcept {
    return give_request(team, request, &ClusterTeam::prepare,
                        [&] { return equal(op, input, output, count, type, with, root); });
}

corymb_status corymb_cluster_prepare_parts(corymb_collective op, const void* input, void* output,
                                           size_t count, corymb_part_lists parts, corymb_type type,
                                           corymb_op with, int root, corymb_cluster_team* team,
                                           corymb_request** request) noexcept {
    return give_request(team, request, &ClusterTeam::prepare,
                        [&] { return unequal(op, input, output, count, parts, type, with, root); });
}

corymb_status corymb_cluster_progress(corymb_cluster_team* team, size_t* under_way) noexcept {
    return c::guarded([&] {
        const std::size_t left = c::live(team).team->progress();
        if (under_way != nullptr) {
            *under_way = left;
        }
    });
}

corymb_status corymb_cluster_carried(const corymb_cluster_team* team, uint64_t* bytes_in,
                                     uint64_t* messages_in, uint64_t* rounds) noexcept {
    return c::guarded([&] {
        c::require(bytes_in, "corymb_cluster_carried: bytes_in");
        c::require(messages_in, "corymb_cluster_carried: messages_in");
        c::require(rounds, "corymb_cluster_carried: rounds");
        const Carried& carried = c::live(team).team->carried();
        *bytes_in = carried.bytes_in;
        *messages_in = carried.messages_in;
        *rounds = carried.rounds;
    });
}

corymb_status corymb_cluster_network(const corymb_cluster_team* team,
                                     const char** network) noexcept {
    return c::guarded([&] {
        c::require(network, "corymb_cluster_network: network");
        *network = c::live(team).network.c_str();
    });
}

corymb_status corymb_cluster_insides(const corymb_cluster_team* team,
                                     const char** insides) noexcept {
    return c::guarded([&] {
        c::require(insides, "corymb_cluster_insides: insides");
        *insides = c::live(team).insides.c_str();
    });
}

corymb_status corymb_cluster_plans(const corymb_cluster_team* team, corymb_plan_visitor visit,
                                   void* context) noexcept {
    return c::guarded([&] { c::tell_plans(c::live(team).team->chosen_plans(), visit, context); });
}

corymb_status corymb_cluster_knows_network(const char* network_key, int nodes,
                                           int* is_known) noexcept {
    return c::guarded([&] {
        c::require(network_key, "corymb_cluster_knows_network: network_key");
        c::require(is_known, "corymb_cluster_knows_network: is_known");
        *is_known = knows_network(network_key, nodes) ? 1 : 0;
    });
}

corymb_status corymb_cluster_team_abandon(corymb_cluster_team* team, const char* why) noexcept {
    return c::guarded(
        [&] { c::live(team).team->abandon(why != nullptr ? why : "it gave no reason"); });
}

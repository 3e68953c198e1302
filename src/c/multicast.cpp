// SPDX-License-Identifier: Apache-2.0
// Acknowledged multicast.
#include "c/give_back.hpp"
#include "c/held.hpp"
#include "c/known_options.hpp"
#include "c/lists.hpp"
#include "c/numbers.hpp"
#include "c/of_rank.hpp"
#include "c/text.hpp"

#include <corymb.h>
#include <corymb/machine.hpp>
#include <corymb/multicast.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace corymb::c {

struct PlaceOfRank : OfRank<Multicast> {
    using OfRank::OfRank;
    std::vector<bool> was_member; ///< Members at each beginning of quiescence that has not ended.
};

} // namespace corymb::c

struct corymb_multicast_group : corymb::c::Holder<corymb_multicast_group, corymb::MulticastGroup> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000B;
    static constexpr const char* name = "the multicast group";
};

struct corymb_multicast : corymb::c::Holder<corymb_multicast, corymb::c::PlaceOfRank> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000C;
    static constexpr const char* name = "the place in a multicast group";
};

struct corymb_multicast_token
    : corymb::c::Holder<corymb_multicast_token, corymb::c::OfRank<corymb::MulticastToken>> {
    static constexpr std::uint64_t live_tag = 0x636F72796D62000D;
    static constexpr const char* name = "the multicast token";
};

namespace corymb::c {

namespace {

MulticastTopology topology_of(corymb_multicast_topology given) {
    switch (given) {
    case CORYMB_MULTICAST_BEST: return MulticastTopology::best;
    case CORYMB_MULTICAST_FLAT: return MulticastTopology::flat;
    case CORYMB_MULTICAST_BINARY: return MulticastTopology::binary;
    case CORYMB_MULTICAST_TREE: return MulticastTopology::tree;
    case CORYMB_MULTICAST_SPLIT: return MulticastTopology::split;
    default: break;
    }
    refuse("there is no multicast topology " + std::to_string(static_cast<int>(given)) +
           "; use a value of corymb_multicast_topology");
}

MulticastAcknowledgement acknowledgement_of(corymb_multicast_acknowledgement given) {
    switch (given) {
    case CORYMB_MULTICAST_BY_COUNTERS: return MulticastAcknowledgement::counters;
    case CORYMB_MULTICAST_BY_MESSAGES: return MulticastAcknowledgement::messages;
    case CORYMB_MULTICAST_BY_BEST: return MulticastAcknowledgement::best;
    case CORYMB_MULTICAST_BY_GATHER: return MulticastAcknowledgement::gather;
    default: break;
    }
    refuse("there is no multicast acknowledgement " + std::to_string(static_cast<int>(given)) +
           "; use a value of corymb_multicast_acknowledgement");
}

corymb_multicast_state state_of(MulticastLate::State state) {
    switch (state) {
    case MulticastLate::State::told: return CORYMB_MULTICAST_TOLD;
    case MulticastLate::State::running: return CORYMB_MULTICAST_RUNNING;
    case MulticastLate::State::untold: return CORYMB_MULTICAST_UNTOLD;
    case MulticastLate::State::ended: break;
    }
    return CORYMB_MULTICAST_ENDED;
}

void set_machine(MulticastOptions& options, const corymb_multicast_options& known) {
    if (known.machine_json != nullptr) {
        options.machine = std::make_shared<const Machine>(machine_from_json(known.machine_json));
    }
    if (known.placement_count != 0) {
        require(known.placement, "placement");
        options.placement.assign(known.placement, known.placement + known.placement_count);
    }
}

MulticastOptions multicast_options(const corymb_multicast_options* given) {
    MulticastOptions options;
    if (given != nullptr) {
        const auto known = as_known(*given, "corymb_multicast_options_init");
        options.topology = topology_of(known.topology);
        options.wait_policy = wait_policy(known.wait);
        if (known.plan_json != nullptr) {
            options.plan = plan_from_json(known.plan_json);
        }
        if (known.gather_json != nullptr) {
            options.gather = plan_from_json(known.gather_json);
        }
        options.fan_out = known.fan_out;
        options.flat_up_to = known.flat_up_to;
        options.skipping = known.without_skipping == 0;
        options.calls = known.calls;
        options.between_processes = known.between_processes != 0;
        options.name = known.name == nullptr ? std::string_view() : known.name;
        options.deadline = time_of(known.deadline_ns, "deadline_ns");
        options.acknowledgement = acknowledgement_of(known.acknowledgement);
        set_machine(options, known);
    }
    return options;
}

/// Throws if a user's function has returned a failure.
void check_function(corymb_status status) {
    if (status != CORYMB_OK) {
        throw Error(errc_of(status), std::string("the function of a multicast call returned ") +
                                         corymb_status_name(status));
    }
}

/// Looks or waits for the call of a token, which is given back when that has ended.
template <class Look>
corymb_status look_at(corymb_multicast_token** token, const Look& look) noexcept {
    const corymb_status status = guarded([&] {
        require(token, "token");
        auto& of = held(*token);
        const auto call = of.user->enter();
        look(of.object);
    });
    if (token != nullptr && is_live(*token) && (*token)->held->object.is_complete()) {
        free_held(*token);
    }
    return status;
}

} // namespace

} // namespace corymb::c

using namespace corymb;

corymb_status corymb_multicast_group_create(int size, const corymb_multicast_options* options,
                                            corymb_multicast_group** group) noexcept {
    return c::give_handle(group, "corymb_multicast_group_create: group",
                          [&] { return MulticastGroup(size, c::multicast_options(options)); });
}

corymb_status corymb_multicast_group_open(int descriptor, corymb_multicast_group** group) noexcept {
    return c::give_handle(group, "corymb_multicast_group_open: group",
                          [&] { return MulticastGroup::open(descriptor); });
}

corymb_status corymb_multicast_group_join(corymb_multicast_group* group, int rank,
                                          corymb_multicast** multicast) noexcept {
    return c::give_handle(multicast, "corymb_multicast_group_join: multicast",
                          [&] { return c::PlaceOfRank(c::held(group).join(rank)); });
}

corymb_status corymb_multicast_group_initiator(corymb_multicast_group* group, int rank,
                                               corymb_multicast** multicast) noexcept {
    return c::give_handle(multicast, "corymb_multicast_group_initiator: multicast",
                          [&] { return c::PlaceOfRank(c::held(group).initiator(rank)); });
}

corymb_status corymb_multicast_group_topology(const corymb_multicast_group* group,
                                              char** text) noexcept {
    return c::give_value<char*>(text, "corymb_multicast_group_topology: text", nullptr,
                                [&] { return c::new_text(c::held(group).topology()); });
}

corymb_status corymb_multicast_group_under_way(const corymb_multicast_group* group,
                                               corymb_multicast_under_way* calls, size_t room,
                                               size_t* count) noexcept {
    return c::guarded([&] {
        c::give_list(
            c::held(group).under_way(), calls, room, count, [](const MulticastUnderWay& call) {
                return corymb_multicast_under_way{call.initiator, call.members,
                                                  static_cast<int>(call.late.size()), call.number};
            });
    });
}

int c::descriptor_of(const corymb_multicast_group* group) {
    return held(group).make_descriptor();
}

std::int64_t c::number_of(const corymb_multicast_group* group, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(group)) {
        return otherwise;
    }
    return number == CORYMB_NUMBER_SIZE      ? group->held->size()
           : number == CORYMB_NUMBER_MEMBERS ? group->held->members()
                                             : otherwise;
}

std::int64_t c::number_of(const corymb_multicast* multicast, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    if (!is_live(multicast)) {
        return otherwise;
    }
    const Multicast& own = multicast->held->object;
    return number == CORYMB_NUMBER_RANK        ? own.rank()
           : number == CORYMB_NUMBER_IS_MEMBER ? (own.is_member() ? 1 : 0)
                                               : otherwise;
}

void c::give_back(corymb_multicast_group*& group) {
    c::free_held(group);
}

corymb_status corymb_multicast_on(corymb_multicast* multicast, uint32_t number,
                                  corymb_multicast_handler handler, void* context) noexcept {
    return c::use(multicast, [&](Multicast& own) {
        c::require(handler, "corymb_multicast_on: handler");
        own.on(number, [handler, context](std::span<const std::byte> message) {
            c::check_handler(handler(message.data(), message.size(), context));
        });
    });
}

corymb_status corymb_multicast_join(corymb_multicast* multicast) noexcept {
    return c::use(multicast, [](Multicast& own) { own.join(); });
}

corymb_status corymb_multicast_leave(corymb_multicast* multicast) noexcept {
    return c::use(multicast, [](Multicast& own) { own.leave(); });
}

corymb_status corymb_multicast_begin_quiescent(corymb_multicast* multicast) noexcept {
    return c::use(multicast, [&](Multicast& own) {
        const bool was_member = own.is_member();
        own.leave();
        multicast->held->was_member.push_back(was_member);
    });
}

corymb_status corymb_multicast_end_quiescent(corymb_multicast* multicast) noexcept {
    return c::use(multicast, [&](Multicast& own) {
        auto& was_member = multicast->held->was_member;
        if (was_member.empty()) {
            c::refuse("corymb_multicast_end_quiescent without corymb_multicast_begin_quiescent");
        }
        if (was_member.back()) {
            own.join();
        }
        was_member.pop_back();
    });
}

corymb_status corymb_multicast_poll(corymb_multicast* multicast, int* ran) noexcept {
    return c::use(multicast, [&](Multicast& own) {
        const int count = own.poll();
        if (ran != nullptr) {
            *ran = count;
        }
    });
}

corymb_status corymb_multicast_sleep(corymb_multicast* multicast, int64_t limit_ns,
                                     int* ran) noexcept {
    return c::use(multicast, [&](Multicast& own) {
        const int count = own.sleep(c::time_of(limit_ns, "limit_ns"));
        if (ran != nullptr) {
            *ran = count;
        }
    });
}

corymb_status corymb_multicast_call(corymb_multicast* multicast, corymb_multicast_function function,
                                    void* context, corymb_multicast_token** token) noexcept {
    return c::begin_of(multicast, token, "token", [&](Multicast& own) {
        c::require(function, "corymb_multicast_call: function");
        return own.call([function, context] { c::check_function(function(context)); });
    });
}

corymb_status corymb_multicast_send(corymb_multicast* multicast, const void* message, size_t bytes,
                                    uint32_t handler, corymb_multicast_token** token) noexcept {
    return c::begin_of(multicast, token, "token", [&](Multicast& own) {
        if (bytes != 0) {
            c::require(message, "corymb_multicast_send: message");
        }
        return own.send(std::span(static_cast<const std::byte*>(message), bytes), handler);
    });
}

void c::give_back(corymb_multicast*& multicast) {
    c::free_unused(multicast);
}

corymb_status corymb_multicast_token_wait(corymb_multicast_token** token,
                                          int64_t limit_ns) noexcept {
    return c::look_at(token,
                      [&](MulticastToken& call) { call.wait(c::time_of(limit_ns, "limit_ns")); });
}

corymb_status corymb_multicast_token_test(corymb_multicast_token** token, int* done) noexcept {
    return c::look_at(token, [&](MulticastToken& call) {
        c::require(done, "corymb_multicast_token_test: done");
        *done = 0;
        if (call.test()) {
            *done = 1;
            call.wait(); // Throws the failure of the call.
        }
    });
}

corymb_status corymb_multicast_token_late(const corymb_multicast_token* token,
                                          corymb_multicast_late* late, size_t room,
                                          size_t* count) noexcept {
    return c::guarded([&] {
        c::give_list(c::held(token).object.late(), late, room, count, [](const MulticastLate& one) {
            return corymb_multicast_late{one.rank, c::state_of(one.state), one.by.count(), one.pid};
        });
    });
}

std::int64_t c::number_of(const corymb_multicast_token* token, corymb_number_kind number,
                          std::int64_t otherwise) noexcept {
    return is_live(token) && number == CORYMB_NUMBER_MEMBERS ? token->held->object.members()
                                                             : otherwise;
}

void c::give_back(corymb_multicast_token*& token) {
    c::free_unused(token);
}

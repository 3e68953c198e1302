// SPDX-License-Identifier: Apache-2.0
// One handle of each kind in a group of two, both of whose ranks are here.
#pragma once

#include "handles/table.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace corymb::handles {

/// What a call has come to: the text of its Errc::invalid_argument, another error's with its code
/// in front, or nothing.
template <class Handle>
std::string outcome(const Call<Handle>& of, Handle& handle) {
    try {
        of.call(handle);
    } catch (const Error& error) {
        return (error.code() == Errc::invalid_argument
                    ? ""
                    : std::string(to_string(error.code())) + ": ") +
               error.what();
    }
    return "nothing";
}

inline bool has(const std::string& text, const char* word) {
    return text.find(word) != std::string::npos;
}

/// Carries nothing: all ranks are on one node.
class NoCarrier final : public Carrier {
public:
    [[nodiscard]] int lanes() const noexcept override { return 8; }
    [[nodiscard]] int own_lanes() const noexcept override { return 100; }
    Ticket send(const void*, std::size_t, Rank, Channel, int) override { return 0; }
    Ticket receive(void*, std::size_t, Rank, Channel) override { return 0; }
    bool test(Ticket, Arrival&) override { return true; }
    void abandon(Ticket) noexcept override {}
};

struct Teams {
    Teams() : group(2), one(group.join(0)), other(group.join(1)), request(one.barrier_init()) {}
    ThreadTeam group;
    Team one, other;
    Request request;
};

struct TeamsOverNodes {
    TeamsOverNodes() : group(2), one(made(0)), other(made(1)) {}
    Team made(Rank rank) {
        ClusterOptions options;
        options.node_of_rank = {0, 0};
        options.rank = rank;
        options.networks.classes.resize(1);
        return over_nodes(group.join(rank), carrier, options);
    }
    NoCarrier carrier;
    ThreadTeam group;
    Team one, other;
};

struct Boxes {
    Boxes() : group(2), one(group.join(0)), other(group.join(1)) {}
    MailboxGroup group;
    Mailbox one, other;
};

struct Named {
    Named() : group(2), one(group.join(0)), other(group.join(1)) {
        offer_function(other, "f", [this](NamedRequest& request) { reply = request.later(); });
        call = begin_named(one, 1, "f", {});
        other.scheduler().poll();
    }
    RemoteGroup group;
    RemoteRank one, other;
    NamedReply reply;
    NamedCall call;
};

struct Ends {
    Ends() : publisher(ring.publisher()), reader(ring.reader()) {}
    static BroadcastOptions options() {
        BroadcastOptions few;
        few.slots = 2;
        return few;
    }
    BroadcastRing ring{options()};
    BroadcastPublisher publisher;
    BroadcastReader reader;
};

struct Places {
    Places() : group(2), one(group.initiator(0)), other(group.initiator(1)) {
        one.join();
        other.join();
        token = one.call([] {});
    }
    MulticastGroup group;
    Multicast one, other;
    MulticastToken token;
};

} // namespace corymb::handles

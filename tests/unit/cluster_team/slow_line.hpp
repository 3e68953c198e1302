// SPDX-License-Identifier: Apache-2.0
// A carrier between threads whose messages are under way for as long as a model says: what is
// measured with it is known beforehand.
#pragma once

#include "cluster_team/switchboard.hpp"

#include <corymb/cluster.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <vector>

namespace cluster_test {

class SlowLine final : public corymb::Carrier {
public:
    /// Rank r is charged as `network_of_rank[r]`; links take any number of messages at once.
    SlowLine(Switchboard& board, Rank own, std::vector<corymb::Network> network_of_rank)
        : line_(board, own), own_(own), network_of_rank_(std::move(network_of_rank)) {}

    [[nodiscard]] int lanes() const noexcept override { return line_.lanes(); }
    [[nodiscard]] int own_lanes() const noexcept override { return line_.own_lanes(); }
    [[nodiscard]] bool has_notices() const noexcept override { return true; }
    /// Notices are not slow.
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        if (channel == Channel::notices) {
            return line_.send(data, bytes, to, channel, mark);
        }
        const auto network = network_between(of(own_), of(to));
        const double under_way_ns =
            network.start_up_ns + static_cast<double>(bytes) / network.stream_gbs;
        const auto due = Clock::now() + std::chrono::nanoseconds(std::int64_t(under_way_ns));
        std::vector<std::byte> message(sizeof due + bytes);
        std::memcpy(message.data(), &due, sizeof due);
        if (bytes != 0) {
            std::memcpy(message.data() + sizeof due, data, bytes);
        }
        return line_.send(message.data(), message.size(), to, channel, mark);
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        if (channel == Channel::notices) {
            return line_.receive(data, room, from, channel);
        }
        std::vector<std::byte> message(room + sizeof(Clock::time_point));
        const Ticket ticket = line_.receive(message.data(), message.size(), from, channel);
        pending_[ticket] = {data, std::move(message), {}, false};
        return ticket;
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        const auto found = pending_.find(ticket);
        if (found == pending_.end()) {
            return line_.test(ticket, arrival);
        }
        Pending& one = found->second;
        one.has_come = one.has_come || line_.test(ticket, one.arrival);
        Clock::time_point due;
        std::memcpy(&due, one.message.data(), sizeof due);
        if (!one.has_come || Clock::now() < due) {
            return false;
        }
        arrival = {one.arrival.bytes - sizeof due, one.arrival.mark};
        if (arrival.bytes != 0) {
            std::memcpy(one.data, one.message.data() + sizeof due, arrival.bytes);
        }
        pending_.erase(found);
        return true;
    }
    void abandon(Ticket ticket) noexcept override {
        pending_.erase(ticket);
        line_.abandon(ticket);
    }

private:
    using Clock = std::chrono::steady_clock;
    struct Pending {
        void* data;
        std::vector<std::byte> message;
        Arrival arrival;
        bool has_come;
    };
    [[nodiscard]] const corymb::Network& of(Rank rank) const {
        return network_of_rank_[static_cast<std::size_t>(rank)];
    }

    Line line_;
    Rank own_;
    std::vector<corymb::Network> network_of_rank_;
    std::map<Ticket, Pending> pending_;
};

} // namespace cluster_test

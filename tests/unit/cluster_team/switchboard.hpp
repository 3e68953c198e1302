// SPDX-License-Identifier: Apache-2.0
// A carrier between threads that play ranks on several nodes, and the threads.
#pragma once

#include "limits.hpp"

#include <corymb/carrier.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace cluster_test {

using corymb::Rank;

/// What is on its way between all ranks.
class Switchboard {
public:
    using Channel = corymb::Carrier::Channel;
    struct Message {
        std::vector<std::byte> data;
        int mark;
    };
    void put(Rank from, Rank to, Channel channel, Message message) {
        const std::lock_guard lock(mutex_);
        queues_[{from, to, channel}].push_back(std::move(message));
    }
    /// `from` may be Carrier::any_rank.
    bool take(Rank from, Rank to, Channel channel, Message& message) {
        const std::lock_guard lock(mutex_);
        for (auto& [key, queue] : queues_) {
            const auto& [sender, receiver, its] = key;
            const bool fits = receiver == to && its == channel &&
                              (from == corymb::Carrier::any_rank || from == sender);
            if (fits && !queue.empty()) {
                message = std::move(queue.front());
                queue.pop_front();
                return true;
            }
        }
        return false;
    }
    /// Whether all messages of operations were taken.
    [[nodiscard]] bool is_empty() {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, queue] : queues_) {
            if (!queue.empty() && std::get<Channel>(key) != Channel::notices) {
                return false;
            }
        }
        return true;
    }

private:
    std::mutex mutex_;
    std::map<std::tuple<Rank, Rank, Channel>, std::deque<Message>> queues_;
};

class Line final : public corymb::Carrier {
public:
    /// What a lazy one sends leaves with the next look of its rank, as a long message of an MPI.
    Line(Switchboard& board, Rank own, bool lazy = false, int lanes = 8, int own_lanes = 100'000)
        : board_(&board), own_(own), lazy_(lazy), lanes_(lanes), own_lanes_(own_lanes) {}

    [[nodiscard]] int lanes() const noexcept override { return lanes_; }
    [[nodiscard]] int own_lanes() const noexcept override { return own_lanes_; }
    [[nodiscard]] bool has_notices() const noexcept override { return true; }
    Ticket send(const void* data, std::size_t bytes, Rank to, Channel channel, int mark) override {
        Switchboard::Message message{std::vector<std::byte>(bytes), mark};
        if (bytes != 0) {
            std::memcpy(message.data.data(), data, bytes);
        }
        unsent_.push_back({to, channel, std::move(message)});
        return lazy_ ? 0 : sent();
    }
    Ticket receive(void* data, std::size_t room, Rank from, Channel channel) override {
        pending_[++last_] = {data, room, from, channel};
        return last_;
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        static_cast<void>(sent());
        if (ticket == 0) {
            return true;
        }
        const auto [data, room, from, channel] = pending_.at(ticket);
        Switchboard::Message message;
        if (!board_->take(from, own_, channel, message)) {
            return false;
        }
        pending_.erase(ticket);
        if (!message.data.empty()) {
            std::memcpy(data, message.data.data(), std::min(room, message.data.size()));
        }
        arrival = {message.data.size(), message.mark};
        return true;
    }
    void abandon(Ticket ticket) noexcept override { pending_.erase(ticket); }
    /// Receives that may still write to their memory.
    [[nodiscard]] std::size_t posted() const { return pending_.size(); }

private:
    struct Pending {
        void* data;
        std::size_t room;
        Rank from;
        Channel channel;
    };
    struct Unsent {
        Rank to;
        Channel channel;
        Switchboard::Message message;
    };
    Ticket sent() {
        for (Unsent& one : unsent_) {
            board_->put(own_, one.to, one.channel, std::move(one.message));
        }
        unsent_.clear();
        return 0;
    }
    Switchboard* board_;
    Rank own_;
    bool lazy_;
    int lanes_;
    int own_lanes_;
    std::vector<Unsent> unsent_;
    Ticket last_ = 0;
    std::map<Ticket, Pending> pending_;
};

/// Runs `life` as every rank of a team on these nodes; what a rank throws fails the test, unless it
/// is kept in `thrown`, by rank.
inline void on_nodes(const std::vector<int>& node_of_rank,
                     const std::function<void(corymb::Team&)>& life,
                     const corymb::ClusterOptions& given = {},
                     std::vector<std::string>* thrown = nullptr, bool lazy = false, int lanes = 8,
                     int own_lanes = 100'000) {
    Switchboard board;
    std::map<int, int> sizes;
    for (const int node : node_of_rank) {
        ++sizes[node];
    }
    std::map<int, std::unique_ptr<corymb::ThreadTeam>> nodes;
    corymb::TeamOptions options;
    options.deadline =
        thrown != nullptr ? corymb::scaled(std::chrono::seconds(2)) : corymb::test_limit();
    for (const auto& [node, size] : sizes) {
        nodes[node] = std::make_unique<corymb::ThreadTeam>(size, options);
    }
    const auto size = static_cast<Rank>(node_of_rank.size());
    std::vector<std::string> errors(node_of_rank.size());
    const auto be = [&](Rank rank) {
        const int node = node_of_rank[static_cast<std::size_t>(rank)];
        const auto place = std::count(node_of_rank.begin(), node_of_rank.begin() + rank, node);
        Line line(board, rank, lazy, lanes, own_lanes);
        try {
            corymb::ClusterOptions own = given;
            own.node_of_rank = node_of_rank;
            own.rank = rank;
            corymb::Team team = over_nodes(nodes[node]->join(static_cast<Rank>(place)), line, own);
            life(team);
        } catch (const std::exception& error) {
            errors[static_cast<std::size_t>(rank)] = error.what();
            EXPECT_EQ(line.posted(), 0u) << "rank " << rank << " has left a receive behind";
        }
    };
    {
        std::vector<std::jthread> threads;
        for (Rank rank = 0; rank < size; ++rank) {
            threads.emplace_back(be, rank);
        }
    }
    if (thrown != nullptr) {
        *thrown = errors;
        return;
    }
    for (const std::string& error : errors) {
        EXPECT_EQ(error, "");
    }
    EXPECT_TRUE(board.is_empty());
}

} // namespace cluster_test

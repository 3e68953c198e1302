// SPDX-License-Identifier: Apache-2.0
// A network is measured by its messages, kept, and found again; all ranks come to know the same.
#include "cluster_team/switchboard.hpp"

#include <corymb/discover.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace corymb;
using namespace std::chrono_literals;
using cluster_test::Line;
using cluster_test::Switchboard;

/// What each rank is told; `find(line, rank)` runs on all.
template <class Find>
std::vector<Networks> on_all(std::size_t ranks, const Find& find) {
    Switchboard board;
    std::vector<Networks> found(ranks);
    {
        std::vector<std::jthread> threads;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            threads.emplace_back([&, rank] {
                Line line(board, static_cast<Rank>(rank));
                found[rank] = find(line, static_cast<Rank>(rank));
            });
        }
    }
    EXPECT_TRUE(board.is_empty());
    return found;
}

TEST(Network, IsMeasuredTheSameForAll) {
    for (const std::vector<int>& nodes :
         {std::vector{0, 1}, std::vector{0, 0, 1, 1}, std::vector{1, 0, 2, 0, 1, 0}}) {
        const auto found = on_all(nodes.size(), [&](Line& line, Rank rank) {
            return measure_networks(line, nodes, rank, 50ms);
        });
        for (const Networks& networks : found) {
            EXPECT_EQ(networks, found.front());
        }
        const Network& first = found.front().classes.front();
        EXPECT_GE(first.start_up_ns, 1);
        EXPECT_GE(first.message_gap_ns, 1);
        EXPECT_GT(first.stream_gbs, 0);
        EXPECT_GE(first.node_gbs, first.stream_gbs);
    }
}

TEST(Network, IsNotMeasuredOnOneNode) {
    Switchboard board;
    Line line(board, 0);
    EXPECT_THROW(static_cast<void>(measure_networks(line, {0, 0}, 0, 1ms)), Error);
}

TEST(Network, IsMeasuredBetweenPlacesThatFit) {
    Switchboard board;
    Line line(board, 0);
    const auto refused = [&](const std::vector<int>& nodes, Rank rank) {
        for (const bool is_known : {false, true}) {
            try {
                static_cast<void>(is_known ? known_networks(line, nodes, rank, "none", 1ms)
                                           : measure_networks(line, nodes, rank, 1ms));
                ADD_FAILURE() << "no error";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), Errc::invalid_argument) << error.what();
            }
        }
    };
    refused({}, 0);
    refused({0, 1}, 2);
    refused({0, 1}, -1);
    refused({0, 2}, 0);
    refused({-1, 0, 1}, 0);
    EXPECT_TRUE(board.is_empty());
    EXPECT_EQ(line.posted(), 0U);
}

/// Sends back what it is sent, until it has sent so often; then nothing comes or goes any more.
class Stuck final : public Carrier {
public:
    explicit Stuck(std::size_t sends) : sends_left_(sends) {}
    Ticket send(const void* data, std::size_t bytes, Rank, Channel, int mark) override {
        mark_ = mark;
        return begin(data, bytes, sends_left_ > 0 ? --sends_left_ : 0);
    }
    Ticket receive(void* data, std::size_t room, Rank, Channel) override {
        return begin(data, room, sends_left_);
    }
    bool test(Ticket ticket, Arrival& arrival) override {
        const Open& open = open_.at(ticket);
        if (!open.will_end) {
            return false;
        }
        arrival = {open.bytes, mark_};
        open_.erase(ticket);
        return true;
    }
    void abandon(Ticket ticket) noexcept override {
        const Open& open = open_.at(ticket);
        std::vector<std::byte> is_there(open.bytes); // Or the sanitizer says so.
        std::memcpy(is_there.data(), open.data, open.bytes);
        open_.erase(ticket);
        ++abandoned_;
    }
    [[nodiscard]] std::size_t open() const { return open_.size(); }
    [[nodiscard]] int abandoned() const { return abandoned_; }

private:
    struct Open {
        const void* data;
        std::size_t bytes;
        bool will_end;
    };
    Ticket begin(const void* data, std::size_t bytes, std::size_t left) {
        open_[++last_] = {data, bytes, left > 0};
        return last_;
    }
    std::size_t sends_left_;
    int mark_ = 0;
    int abandoned_ = 0;
    Ticket last_ = 0;
    std::map<Ticket, Open> open_;
};

TEST(Network, OfACarrierThatIsStuckIsGivenUpInTime) {
    int most = 0;
    for (const std::size_t sends : {0U, 1U, 5U, 66U, 90U, 100U}) {
        Stuck carrier(sends);
        try {
            static_cast<void>(measure_networks(carrier, {0, 1}, 0, 10s, 50ms));
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::timeout) << error.what();
        }
        EXPECT_EQ(carrier.open(), 0U);
        most = std::max(most, carrier.abandoned());
    }
    EXPECT_GT(most, 1); // In the middle of many.
}

const Networks of_variable{{{2000, 400, 3, 12}}, {}};

class KnownNetwork : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "corymb-network-XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        ::setenv("CORYMB_CACHE_DIR", folder_.c_str(), 1);
        ::unsetenv("CORYMB_NETWORK");
    }
    void TearDown() override {
        ::unsetenv("CORYMB_CACHE_DIR");
        ::unsetenv("CORYMB_NETWORK");
        std::filesystem::remove_all(folder_);
    }
    static std::vector<Networks> find(const std::string& key) {
        return on_all(3, [&](Line& line, Rank rank) {
            return known_networks(line, {0, 1, 1}, rank, key, 20ms);
        });
    }
    [[nodiscard]] std::vector<std::filesystem::path> files() const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            found.push_back(entry.path());
        }
        return found;
    }
    std::filesystem::path folder_;
};

TEST_F(KnownNetwork, IsKeptUnderItsKey) {
    EXPECT_FALSE(knows_network("two nodes", 2));
    const auto first = find("two nodes");
    ASSERT_EQ(files().size(), 1U);
    EXPECT_EQ(find("two nodes"), first);
    EXPECT_TRUE(knows_network("two nodes", 2));
    EXPECT_FALSE(knows_network("others", 2));
    ::setenv("CORYMB_NETWORK", "1,1,1,1", 1);
    EXPECT_TRUE(knows_network("others", 2));
    ::setenv("CORYMB_NETWORK", "", 1); // As if there were none.
    EXPECT_FALSE(knows_network("others", 2));
    ::unsetenv("CORYMB_NETWORK");
    EXPECT_EQ(first[0], first[2]);
    find("others");
    EXPECT_EQ(files().size(), 2U);
}

/// Keys are other ones than above: a process remembers what it has measured.
TEST_F(KnownNetwork, IsNotReadFromADamagedFile) {
    const auto first = find("two more");
    const auto kept = files();
    ASSERT_EQ(kept.size(), 1U);
    for (const char* text : {"", "corymb-network/2\n", "corymb-network/2\nothers\n1,1,1,1\n",
                             "corymb-network/2\ntwo more\n0,0,0,0\n",
                             "corymb-network/2\ntwo more\n2000,400,3,12/1,1,1,1@2\n"}) {
        std::ofstream(kept.front()) << text;
        EXPECT_EQ(find("two more"), first) << text;
    }
    std::ofstream(kept.front()) << "corymb-network/2\ntwo more\n2000,400,3,12\n";
    EXPECT_EQ(find("two more")[2], of_variable);
}

TEST_F(KnownNetwork, IsWhatTheVariableSays) {
    ::setenv("CORYMB_NETWORK", "2000,400,3,12", 1);
    EXPECT_EQ(find("two nodes")[1], of_variable);
    ::setenv("CORYMB_NETWORK", "2000,400,3,12/1,1,1,1@1", 1);
    EXPECT_EQ(find("two nodes")[1], (Networks{{{2000, 400, 3, 12}, {1, 1, 1, 1}}, {0, 1}}));
    EXPECT_TRUE(files().empty());
    ::setenv("CORYMB_NETWORK", "fast", 1);
    const auto told = on_all(2, [](Line& line, Rank rank) {
        try {
            return known_networks(line, {0, 1}, rank, "two nodes", 1ms);
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("CORYMB_NETWORK"), std::string::npos);
            return Networks{{{7, 7, 7, 7}}, {}};
        }
    });
    EXPECT_EQ(told[0], told[1]);
}

TEST_F(KnownNetwork, IsMeasuredAnewOnce) {
    ::setenv("CORYMB_NETWORK", "measure", 1);
    const auto anew = find("two again");
    const auto kept = files();
    ASSERT_EQ(kept.size(), 1U);
    std::ofstream(kept.front()) << "corymb-network/2\ntwo again\n2000,400,3,12\n";
    EXPECT_EQ(find("two again"), anew);
    ::unsetenv("CORYMB_NETWORK");
    EXPECT_EQ(find("two again")[1], of_variable);
}

TEST_F(KnownNetwork, HasAKeyOfOneLine) {
    Switchboard board;
    Line line(board, 0);
    EXPECT_THROW(static_cast<void>(known_networks(line, {0, 1}, 0, "a\nb", 1ms)), Error);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// A network is measured by its messages, kept, and found again; all ranks come to know the same.
#include "cluster_team/switchboard.hpp"

#include <corymb/discover.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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
std::vector<Network> on_all(std::size_t ranks, const Find& find) {
    Switchboard board;
    std::vector<Network> found(ranks);
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
            return measure_network(line, nodes, rank, 50ms);
        });
        for (const Network& network : found) {
            EXPECT_EQ(network, found.front());
        }
        EXPECT_GE(found.front().start_up_ns, 1);
        EXPECT_GE(found.front().message_gap_ns, 1);
        EXPECT_GT(found.front().stream_gbs, 0);
        EXPECT_GE(found.front().node_gbs, found.front().stream_gbs);
    }
}

TEST(Network, IsNotMeasuredOnOneNode) {
    Switchboard board;
    Line line(board, 0);
    EXPECT_THROW(static_cast<void>(measure_network(line, {0, 0}, 0, 1ms)), Error);
}

TEST(Network, IsReadFromText) {
    EXPECT_EQ(network_from("2000,400,3,12"), (Network{2000, 400, 3, 12}));
    EXPECT_EQ(network_from("2e3,0,0.5,0.5"), (Network{2000, 0, 0.5, 0.5}));
    for (const char* wrong : {"", "1", "1,2,3", "1,2,3,4,5", "1,2,3,x", "0,1,2,3", "1,-1,2,3",
                              "1,1,0,3", "1,1,3,2", "1,1,1,inf", "1;1;1;1", "1,1,1,1 "}) {
        EXPECT_FALSE(network_from(wrong).has_value()) << wrong;
    }
}

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
    static std::vector<Network> find(const std::string& key) {
        return on_all(3, [&](Line& line, Rank rank) {
            return known_network(line, {0, 1, 1}, rank, key, 20ms);
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
    const auto first = find("two nodes");
    ASSERT_EQ(files().size(), 1U);
    EXPECT_EQ(find("two nodes"), first);
    EXPECT_EQ(first[0], first[2]);
    find("others");
    EXPECT_EQ(files().size(), 2U);
}

/// Keys are other ones than above: a process remembers what it has measured.
TEST_F(KnownNetwork, IsNotReadFromADamagedFile) {
    const auto first = find("two more");
    const auto kept = files();
    ASSERT_EQ(kept.size(), 1U);
    for (const char* text : {"", "corymb-network/1\n", "corymb-network/1\nothers\n1,1,1,1\n",
                             "corymb-network/1\ntwo more\n0,0,0,0\n"}) {
        std::ofstream(kept.front()) << text;
        EXPECT_EQ(find("two more"), first) << text;
    }
    std::ofstream(kept.front()) << "corymb-network/1\ntwo more\n2000,400,3,12\n";
    EXPECT_EQ(find("two more")[2], (Network{2000, 400, 3, 12}));
}

TEST_F(KnownNetwork, IsWhatTheVariableSays) {
    ::setenv("CORYMB_NETWORK", "2000,400,3,12", 1);
    EXPECT_EQ(find("two nodes")[1], (Network{2000, 400, 3, 12}));
    EXPECT_TRUE(files().empty());
    ::setenv("CORYMB_NETWORK", "fast", 1);
    const auto told = on_all(2, [](Line& line, Rank rank) {
        try {
            return known_network(line, {0, 1}, rank, "two nodes", 1ms);
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("CORYMB_NETWORK"), std::string::npos);
            return Network{7, 7, 7, 7};
        }
    });
    EXPECT_EQ(told[0], told[1]);
}

TEST_F(KnownNetwork, IsMeasuredAnewOnce) {
    ::setenv("CORYMB_NETWORK", "measure", 1);
    const auto anew = find("two again");
    const auto kept = files();
    ASSERT_EQ(kept.size(), 1U);
    std::ofstream(kept.front()) << "corymb-network/1\ntwo again\n2000,400,3,12\n";
    EXPECT_EQ(find("two again"), anew);
    ::unsetenv("CORYMB_NETWORK");
    EXPECT_EQ(find("two again")[1], (Network{2000, 400, 3, 12}));
}

TEST_F(KnownNetwork, HasAKeyOfOneLine) {
    Switchboard board;
    Line line(board, 0);
    EXPECT_THROW(static_cast<void>(known_network(line, {0, 1}, 0, "a\nb", 1ms)), Error);
}

} // namespace

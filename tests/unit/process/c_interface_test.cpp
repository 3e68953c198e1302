// SPDX-License-Identifier: Apache-2.0
// Teams of processes through <corymb.h>.
#include "children.hpp"

#include <corymb.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;

void require_ok(corymb_status status, const std::string& what) {
    require(status == CORYMB_OK,
            what + ": " + corymb_status_name(status) + ", " + corymb_last_error());
}

corymb_attach_options by_number(int descriptor) {
    corymb_attach_options options;
    corymb_attach_options_init(&options);
    options.descriptor = descriptor;
    return options;
}

/// A descriptor of the C interface, closed at the end.
class Meeting {
public:
    explicit Meeting(int size) {
        EXPECT_EQ(corymb_make_team_descriptor(size, &number_), CORYMB_OK) << corymb_last_error();
    }
    ~Meeting() { ::close(number_); }
    Meeting(const Meeting&) = delete;
    Meeting& operator=(const Meeting&) = delete;
    [[nodiscard]] int number() const noexcept { return number_; }

private:
    int number_ = -1;
};

void add_up(corymb_team* team, int size) {
    std::vector<int> values(5'000, corymb_team_rank(team) + 1);
    require_ok(corymb_allreduce(CORYMB_IN_PLACE, values.data(), values.size(), CORYMB_INT,
                                CORYMB_SUM, team),
               "allreduce");
    require(values.back() == size * (size + 1) / 2, "the sum");
    char* notes = nullptr;
    require_ok(corymb_team_notes(team, &notes), "notes");
    require(notes != nullptr && *notes != '\0', "notes say something");
    corymb_free(notes);
    require_ok(corymb_team_free(&team), "free");
}

TEST(CInterfaceTest, AtOnceNobodyIsWaitedFor) {
    const Meeting meeting(2);
    corymb_attach_options options = by_number(meeting.number());
    options.at_once = 1;
    corymb_process_team* groups[2] = {};
    for (corymb_process_team*& group : groups) {
        ASSERT_EQ(corymb_process_team_create(&options, &group), CORYMB_OK) << corymb_last_error();
    }
    int met[2] = {-1, -1};
    ASSERT_EQ(corymb_process_team_try_meet(groups[0], &met[0]), CORYMB_OK);
    EXPECT_EQ(met[0], 0); // The other one has not looked yet.
    corymb_team* team = nullptr;
    EXPECT_EQ(corymb_process_team_join(groups[0], 0, &team), CORYMB_INVALID_ARGUMENT);
    const auto end = std::chrono::steady_clock::now() + test_limit();
    while ((met[0] == 0 || met[1] <= 0) && std::chrono::steady_clock::now() < end) {
        for (int i = 0; i < 2; ++i) {
            ASSERT_EQ(corymb_process_team_try_meet(groups[i], &met[i]), CORYMB_OK)
                << corymb_last_error();
        }
    }
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
        ranks.emplace_back([&groups, rank] {
            corymb_team* joined = nullptr;
            require_ok(corymb_process_team_join(groups[rank], rank, &joined), "join");
            add_up(joined, 2);
        });
    }
    for (std::thread& rank : ranks) {
        rank.join();
    }
    for (corymb_process_team*& group : groups) {
        EXPECT_EQ(corymb_process_team_free(&group), CORYMB_OK);
    }
}

TEST(CInterfaceTest, OneRankEachAndSeveral) {
    const Meeting meeting(3);
    std::size_t absent = 0;
    int first_absent = -1;
    ASSERT_EQ(corymb_absent_ranks(meeting.number(), &first_absent, 1, &absent), CORYMB_OK);
    EXPECT_EQ(absent, 3U);
    EXPECT_EQ(first_absent, 0);
    Children children;
    children.start([&] {
        const corymb_attach_options options = by_number(meeting.number());
        corymb_team* team = nullptr;
        require_ok(corymb_attach(&options, &team), "attach");
        add_up(team, 3);
    });
    children.start([&] {
        corymb_attach_options options = by_number(meeting.number());
        options.ranks_here = 2;
        corymb_process_team* group = nullptr;
        require_ok(corymb_process_team_create(&options, &group), "create");
        int first = -1;
        int count = 0;
        require_ok(corymb_process_team_ranks(group, &first, &count), "ranks");
        require(count == 2, "two ranks");
        const auto life = [&](int rank) {
            corymb_team* team = nullptr;
            require_ok(corymb_process_team_join(group, rank, &team), "join");
            add_up(team, 3);
        };
        std::thread other(life, first + 1);
        life(first);
        other.join();
        corymb_team* none = nullptr;
        require(corymb_process_team_join(group, first + 2, &none) == CORYMB_INVALID_ARGUMENT,
                "a rank of another process");
        require_ok(corymb_process_team_free(&group), "free");
    });
    children.expect_all_good();
}

TEST(CInterfaceTest, SurvivorsOfAKilledProcessGoOn) {
    const Meeting meeting(3);
    Children children;
    for (int child = 0; child < 3; ++child) {
        children.start([&, child] {
            corymb_attach_options options = by_number(meeting.number());
            options.rank = child;
            corymb_team* team = nullptr;
            require_ok(corymb_attach(&options, &team), "attach");
            require_ok(corymb_barrier(team), "the first barrier");
            if (child == 1) {
                ::raise(SIGKILL);
            }
            require(corymb_barrier(team) != CORYMB_OK, "the second barrier fails");
            int blamed = -1;
            require(corymb_last_error_ranks(&blamed, 1) == 1 && blamed == 1, "rank 1 is blamed");
            corymb_team* survivors = nullptr;
            require_ok(corymb_team_shrink(team, &survivors), "shrink");
            require(corymb_team_size(survivors) == 2, "two are left");
            require_ok(corymb_barrier(survivors), "their barrier");
            require_ok(corymb_team_free(&survivors), "free");
            require_ok(corymb_team_free(&team), "free");
        });
    }
    EXPECT_TRUE(WIFSIGNALED(children.wait(1)));
    children.expect_all_good();
}

TEST(CInterfaceTest, WhoComesAloneIsTold) {
    corymb_attach_options options;
    corymb_attach_options_init(&options);
    corymb_team* team = nullptr;
    ::unsetenv("CORYMB_TEAM");
    EXPECT_EQ(corymb_attach(nullptr, &team), CORYMB_INVALID_ARGUMENT);
    EXPECT_NE(std::string(corymb_last_error()).find("corymb run"), std::string::npos);
    EXPECT_EQ(team, nullptr);
    const std::string name = "c interface " + std::to_string(::getpid());
    options.name = name.c_str();
    EXPECT_EQ(corymb_attach(&options, &team), CORYMB_INVALID_ARGUMENT); // Without its size.
    options.size = 2;
    options.patience_ns = 50'000'000;
    EXPECT_EQ(corymb_attach(&options, &team), CORYMB_TIMEOUT) << corymb_last_error();
    int missing = -1;
    EXPECT_EQ(corymb_last_error_ranks(&missing, 1), 1U);
    EXPECT_EQ(missing, 1);
    options.patience_ns = -1;
    EXPECT_EQ(corymb_attach(&options, &team), CORYMB_INVALID_ARGUMENT);
    EXPECT_EQ(corymb_absent_ranks(-1, nullptr, 0, nullptr), CORYMB_INVALID_ARGUMENT);
    EXPECT_EQ(corymb_make_team_descriptor(2, nullptr), CORYMB_INVALID_ARGUMENT);
}

} // namespace
} // namespace corymb

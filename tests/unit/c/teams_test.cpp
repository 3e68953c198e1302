// SPDX-License-Identifier: Apache-2.0
// Teams of threads in the C interface: handles, options, failures, plans.
#include "in_teams.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace c_test;

TEST(TeamsTest, RanksKnowThemselves) {
    const std::string version = std::to_string(CORYMB_VERSION_MAJOR) + "." +
                                std::to_string(CORYMB_VERSION_MINOR) + "." +
                                std::to_string(CORYMB_VERSION_PATCH);
    EXPECT_EQ(corymb_version(), version);
    EXPECT_GE(corymb_usable_cpus(), 1);
    in_team(3, [](corymb_team* team) {
        EXPECT_EQ(corymb_team_size(team), 3);
        int mask = 1 << corymb_team_rank(team);
        expect_ok(corymb_allreduce(CORYMB_IN_PLACE, &mask, 1, CORYMB_INT, CORYMB_SUM, team));
        EXPECT_EQ(mask, 7);
        std::size_t bytes = 0;
        expect_ok(corymb_team_memory(team, &bytes));
        EXPECT_GT(bytes, 0U);
        char* notes = nullptr;
        expect_ok(corymb_team_notes(team, &notes));
        EXPECT_STREQ(notes, "");
        corymb_free(notes);
        expect_invalid(corymb_team_free(&team), "gives this handle back itself");
    });
}

TEST(TeamsTest, ThreadsOfOnesOwnJoin) {
    corymb_options options;
    corymb_options_init(&options);
    options.wait = CORYMB_WAIT_YIELD;
    options.deadline_ns = 60'000'000'000;
    corymb_thread_team* group = nullptr;
    expect_ok(corymb_thread_team_create(2, &options, &group));
    std::array<int, 2> sums{};
    const auto life = [&](int rank) {
        corymb_team* team = nullptr;
        expect_ok(corymb_thread_team_join(group, rank, &team));
        int& sum = sums[static_cast<std::size_t>(rank)];
        sum = rank + 1;
        expect_ok(corymb_allreduce(CORYMB_IN_PLACE, &sum, 1, CORYMB_INT, CORYMB_SUM, team));
        expect_ok(corymb_team_free(&team));
        EXPECT_EQ(team, nullptr);
        expect_ok(corymb_team_free(&team));
    };
    std::thread other(life, 1);
    life(0);
    other.join();
    EXPECT_EQ(sums, (std::array<int, 2>{3, 3}));
    corymb_team* again = nullptr;
    expect_invalid(corymb_thread_team_join(group, 1, &again), "");
    expect_invalid(corymb_thread_team_join(group, 2, &again), "");
    EXPECT_EQ(again, nullptr);
    corymb_thread_team* stale = group;
    expect_ok(corymb_thread_team_free(&group));
    expect_invalid(corymb_thread_team_join(stale, 0, &again), "was freed");
    expect_invalid(corymb_thread_team_free(&stale), "was freed");
    for (const int size : {-1, 0, 65'537}) {
        expect_invalid(corymb_thread_team_create(size, nullptr, &group), "1 to 65536 ranks");
        int descriptor = 0;
        expect_invalid(corymb_make_team_descriptor(size, &descriptor), "1 to 65536 ranks");
    }
    expect_invalid(corymb_thread_team_create(2, nullptr, nullptr), "NULL");
}

TEST(TeamsTest, SplitAndManyHandles) {
    in_team(3, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        std::size_t before = 0;
        // A better plan that comes later would need channels of its own.
        expect_ok(corymb_team_warm_up(team, CORYMB_BARRIER, 0, 0, 0));
        for (int round = 0; round < 100; ++round) {
            corymb_team* part = nullptr;
            expect_ok(corymb_team_split(team, rank == 2 ? -1 : 0, -rank, &part));
            ASSERT_EQ(part == nullptr, rank == 2);
            if (part != nullptr) {
                EXPECT_EQ(corymb_team_size(part), 2);
                EXPECT_EQ(corymb_team_rank(part), 1 - rank);
                expect_ok(corymb_barrier(part));
                corymb_team* stale = part;
                expect_ok(corymb_team_free(&part));
                expect_invalid(corymb_barrier(stale), "was freed");
                EXPECT_EQ(corymb_team_rank(stale), -1);
                EXPECT_EQ(corymb_team_size(stale), 0);
            }
            expect_ok(corymb_barrier(team));
            if (round == 10) {
                expect_ok(corymb_team_memory(team, &before));
                corymb_statistics counted;
                corymb_statistics_init(&counted);
                int64_t waited_for_ns[2] = {-1, -1};
                const uint64_t operations_before = [&] {
                    expect_ok(corymb_team_statistics(team, &counted, nullptr, 0));
                    return counted.operations;
                }();
                expect_ok(corymb_barrier(team));
                expect_ok(corymb_team_statistics(team, &counted, waited_for_ns, 2));
                EXPECT_EQ(counted.operations, operations_before + 1);
                EXPECT_GE(waited_for_ns[0], 0);
                EXPECT_GE(counted.waited_ns, waited_for_ns[0]);
                EXPECT_LE(counted.sleeps, counted.waits);
                expect_invalid(corymb_team_statistics(team, nullptr, nullptr, 0), "is NULL");
                expect_invalid(corymb_team_statistics(team, &counted, nullptr, 1),
                               "waited_for_ns is NULL");
                counted.struct_size = 3;
                expect_invalid(corymb_team_statistics(team, &counted, nullptr, 0),
                               "corymb_statistics_init");
            }
            expect_ok(corymb_barrier(team));
        }
        std::size_t after = 0;
        expect_ok(corymb_team_memory(team, &after));
        EXPECT_EQ(after, before);
    });
}

TEST(TeamsTest, SurvivorsGoOn) {
    in_team(3, [](corymb_team* team) {
        if (corymb_team_rank(team) == 1) {
            expect_ok(corymb_team_abandon(team, "its disk is full"));
            return;
        }
        expect_refused(corymb_barrier(team), CORYMB_TEAM_BROKEN, "its disk is full");
        EXPECT_EQ(blamed_ranks(), std::vector<int>{1});
        corymb_team* survivors = nullptr;
        expect_ok(corymb_team_shrink(team, &survivors));
        EXPECT_EQ(corymb_team_size(survivors), 2);
        expect_ok(corymb_barrier(survivors));
        expect_ok(corymb_team_free(&survivors));
    });
}

TEST(TeamsTest, ARankThatDoesNotComeIsNamed) {
    corymb_options options;
    corymb_options_init(&options);
    options.deadline_ns = 50'000'000;
    corymb_thread_team* group = nullptr;
    expect_ok(corymb_thread_team_create(2, &options, &group));
    corymb_team* team = nullptr;
    expect_ok(corymb_thread_team_join(group, 0, &team));
    expect_refused(corymb_barrier(team), CORYMB_TIMEOUT, "rank 1");
    EXPECT_EQ(blamed_ranks(), std::vector<int>{1});
    int first = -1;
    EXPECT_EQ(corymb_last_error_ranks(&first, 0), 1U);
    EXPECT_EQ(first, -1);
    expect_ok(corymb_thread_team_abandon(group, 1, nullptr));
    expect_ok(corymb_team_free(&team));
    expect_ok(corymb_thread_team_free(&group));
}

TEST(TeamsTest, ANegativeNumberOfRanksPerCpuIsRefused) {
    corymb_options options;
    corymb_options_init(&options);
    options.ranks_per_cpu = -2;
    corymb_thread_team* group = nullptr;
    EXPECT_EQ(corymb_thread_team_create(2, &options, &group), CORYMB_INVALID_ARGUMENT);
    EXPECT_NE(std::string(corymb_last_error()).find("ranks_per_cpu is -2"), std::string::npos);
    EXPECT_EQ(group, nullptr);
}

TEST(TeamsTest, LevelsAreThoseOfTheModelOrAreRefused) {
    corymb_options options;
    corymb_options_init(&options);
    options.levels = "cores";
    corymb_thread_team* group = nullptr;
    EXPECT_EQ(corymb_thread_team_create(2, &options, &group), CORYMB_UNKNOWN_NAME);
    EXPECT_NE(std::string(corymb_last_error()).find("no level is called \"cores\""),
              std::string::npos);
    EXPECT_EQ(group, nullptr);
    options.levels = "none";
    in_team(
        2,
        [](corymb_team* team) {
            const double own = corymb_team_rank(team) + 1;
            double sum = 0;
            expect_ok(corymb_allreduce(&own, &sum, 1, CORYMB_DOUBLE, CORYMB_SUM, team));
            EXPECT_EQ(sum, 3);
        },
        &options);
}

TEST(TeamsTest, AnObjectiveThatIsNoneIsRefused) {
    corymb_options options;
    corymb_options_init(&options);
    options.objective = "p95";
    corymb_thread_team* group = nullptr;
    EXPECT_EQ(corymb_thread_team_create(2, &options, &group), CORYMB_UNKNOWN_NAME);
    EXPECT_NE(std::string(corymb_last_error()).find("there are median and p99"), std::string::npos);
    EXPECT_EQ(group, nullptr);
    options.objective = "median";
    EXPECT_EQ(corymb_thread_team_create(2, &options, &group), CORYMB_OK);
    EXPECT_EQ(corymb_thread_team_free(&group), CORYMB_OK);
}

TEST(TeamsTest, ReproducibleTeamsCombineInTheOrderOfTheRanksNumbers) {
    corymb_options options;
    corymb_options_init(&options);
    options.reproducible = 1;
    in_team(
        3,
        [](corymb_team* team) {
            const double values[] = {1e16, 1.5, -1e16};
            double sum = 0;
            expect_ok(corymb_allreduce(&values[corymb_team_rank(team)], &sum, 1, CORYMB_DOUBLE,
                                       CORYMB_SUM, team));
            EXPECT_EQ(sum, (values[0] + values[1]) + values[2]);
        },
        &options);
}

TEST(TeamsTest, CallsThatDifferAreNoticed) {
    in_team(2, [](corymb_team* team) {
        double data[2] = {};
        const std::size_t count = corymb_team_rank(team) == 0 ? 1 : 2;
        expect_refused(
            corymb_allreduce(CORYMB_IN_PLACE, data, count, CORYMB_DOUBLE, CORYMB_SUM, team),
            CORYMB_MISMATCH, "allreduce");
    });
}

corymb_status fail_on_rank_1(corymb_team* team, void* how) {
    if (corymb_team_rank(team) != 1) {
        return corymb_barrier(team);
    }
    if (how == nullptr) {
        throw std::runtime_error("out of ideas");
    }
    return *static_cast<const corymb_status*>(how) == CORYMB_INVALID_ARGUMENT
               ? corymb_broadcast(nullptr, 1, CORYMB_INT, 0, team)
               : *static_cast<const corymb_status*>(how);
}

TEST(TeamsTest, TheFirstFailureOfARankIsTold) {
    corymb_status how = CORYMB_IO;
    expect_refused(corymb_threads(3, fail_on_rank_1, &how, nullptr), CORYMB_IO,
                   "rank 1: its function returned io (6)");
    EXPECT_EQ(blamed_ranks(), std::vector<int>{1});
    how = CORYMB_INVALID_ARGUMENT;
    expect_invalid(corymb_threads(3, fail_on_rank_1, &how, nullptr), "rank 1: the output is null");
    expect_refused(corymb_threads(3, fail_on_rank_1, nullptr, nullptr), CORYMB_INTERNAL,
                   "rank 1: out of ideas");
    expect_invalid(corymb_threads(3, nullptr, nullptr, nullptr), "rank_main is NULL");
    expect_invalid(corymb_threads(0, fail_on_rank_1, nullptr, nullptr), "");
}

TEST(TeamsTest, OptionsOfOtherVersions) {
    struct Newer {
        corymb_options options;
        std::uint64_t added;
    } newer{};
    corymb_options_init(&newer.options);
    newer.options.struct_size = sizeof newer;
    in_team(1, [](corymb_team*) {}, &newer.options);
    newer.added = 1;
    corymb_thread_team* group = nullptr;
    expect_refused(corymb_thread_team_create(1, &newer.options, &group), CORYMB_UNSUPPORTED,
                   "newer corymb.h");
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, SIZE_MAX}) {
        newer.options.struct_size = bytes;
        expect_invalid(corymb_thread_team_create(1, &newer.options, &group), "corymb_options_init");
    }
    corymb_options options;
    const auto refused = [&](const char* words) {
        expect_invalid(corymb_thread_team_create(2, &options, &group), words);
        EXPECT_EQ(group, nullptr);
        corymb_options_init(&options);
    };
    corymb_options_init(&options);
    options.deadline_ns = -1;
    refused("deadline_ns is negative");
    options.wait = static_cast<corymb_wait_policy>(4);
    refused("no wait policy 4");
    options.cpu_count = 2;
    refused("cpus is NULL");
    const int cpus[3] = {0, 0, 0};
    options.cpus = cpus;
    refused("cpu_count is 0");
    options.cpus = cpus;
    options.cpu_count = 3;
    refused("3 CPUs for a team of 2");
}

TEST(TeamsTest, AWaitEndsOnRequest) {
    for (const bool by_exception : {false, true}) {
        int asked = 0;
        corymb_options options;
        corymb_options_init(&options);
        options.interrupted_context = &asked;
        if (by_exception) {
            options.interrupted = [](void* context) -> int {
                ++*static_cast<int*>(context);
                throw 42;
            };
        } else {
            options.interrupted = [](void* context) {
                return ++*static_cast<int*>(context) == 2 ? 1 : 0;
            };
        }
        corymb_thread_team* group = nullptr;
        expect_ok(corymb_thread_team_create(2, &options, &group));
        corymb_team* team = nullptr;
        expect_ok(corymb_thread_team_join(group, 0, &team));
        EXPECT_EQ(corymb_barrier(team), CORYMB_INTERRUPTED) << corymb_last_error();
        EXPECT_EQ(asked, by_exception ? 1 : 2);
        expect_ok(corymb_team_free(&team));
        expect_ok(corymb_thread_team_free(&group));
    }
}

struct Plans {
    const char* json = nullptr;
    bool throws = false;
    int calls = 0;
};

char* give_plan(const corymb_plan_need* need, void* context) {
    auto& plans = *static_cast<Plans*>(context);
    EXPECT_EQ(need->struct_size, sizeof *need);
    EXPECT_EQ(need->op, CORYMB_ALLREDUCE);
    EXPECT_EQ(need->size, 1);
    EXPECT_EQ(need->root, 0);
    EXPECT_EQ(need->ordered, 0);
    EXPECT_EQ(need->reproducible, 0);
    EXPECT_EQ(need->one_block, 0);
    EXPECT_GT(need->cell_slots, 0U);
    EXPECT_GE(need->bytes, 8U);
    ++plans.calls;
    if (plans.throws) {
        throw 42;
    }
    return plans.json == nullptr ? nullptr : ::strdup(plans.json);
}

extern "C" void add_plan(corymb_collective op, int root, uint64_t bytes, const char* algorithm,
                         void* context) {
    const bool has_name = algorithm != nullptr && *algorithm != '\0';
    static_cast<std::vector<std::string>*>(context)->push_back(
        std::to_string(op) + " from " + std::to_string(root) + " to " + std::to_string(bytes) +
        (has_name ? "" : " without a name"));
}

TEST(TeamsTest, TellsItsPlans) {
    in_team(1, [&](corymb_team* team) {
        std::vector<std::string> plans;
        expect_ok(corymb_team_plans(team, add_plan, &plans));
        EXPECT_TRUE(plans.empty());
        double data[1000] = {};
        expect_ok(corymb_broadcast(data, 1000, CORYMB_DOUBLE, 0, team));
        expect_ok(corymb_barrier(team));
        expect_ok(corymb_team_plans(team, add_plan, &plans));
        EXPECT_EQ(plans, (std::vector<std::string>{"0 from 0 to 0", "1 from 0 to 8192"}));
        expect_invalid(corymb_team_plans(team, nullptr, nullptr), "visit is NULL");
    });
}

TEST(TeamsTest, PlansOfOnesOwn) {
    char* json = nullptr;
    in_team(1, [&](corymb_team* team) {
        expect_ok(corymb_plan_json(team, CORYMB_ALLREDUCE, 1000, 0, &json));
        EXPECT_NE(std::strstr(json, "\"allreduce\""), nullptr) << json;
        char* text = json;
        expect_invalid(corymb_plan_json(team, static_cast<corymb_collective>(11), 8, 0, &text),
                       "no operation 11");
        EXPECT_EQ(text, nullptr);
        expect_invalid(corymb_plan_json(team, CORYMB_REDUCE, 8, 3, &text), "root 3");
        expect_invalid(corymb_plan_json(team, CORYMB_REDUCE, 8, 0, nullptr), "text is NULL");
    });
    Plans plans;
    corymb_options options;
    corymb_options_init(&options);
    options.plans = give_plan;
    options.plans_context = &plans;
    in_team(
        1,
        [&](corymb_team* team) {
            double data[2] = {3, 0};
            const auto reduce = [&] {
                return corymb_allreduce(data, data + 1, 1, CORYMB_DOUBLE, CORYMB_SUM, team);
            };
            expect_refused(reduce(), CORYMB_INVALID_PLAN, "no plan for allreduce of 1 ranks");
            plans.throws = true;
            expect_refused(reduce(), CORYMB_INTERNAL, "unknown type");
            plans.throws = false;
            plans.json = "{}";
            EXPECT_NE(reduce(), CORYMB_OK);
            plans.json = json;
            expect_ok(reduce());
            expect_ok(reduce());
            EXPECT_EQ(data[1], 3);
            EXPECT_EQ(plans.calls, 4);
        },
        &options);
    corymb_free(json);
}

TEST(TeamsTest, BrokenArgumentsAreRefused) {
    alignas(16) std::array<char, 4096> other{};
    auto* const stranger = reinterpret_cast<corymb_team*>(other.data());
    EXPECT_EQ(corymb_team_rank(nullptr), -1);
    EXPECT_EQ(corymb_team_size(stranger), 0);
    expect_invalid(corymb_barrier(nullptr), "the team is NULL");
    expect_invalid(corymb_team_free(nullptr), "NULL");
    EXPECT_STREQ(corymb_status_name(CORYMB_OK), "ok");
    EXPECT_STREQ(corymb_status_name(CORYMB_TEAM_BROKEN), "team_broken");
    EXPECT_STREQ(corymb_status_name(CORYMB_MISMATCH), "mismatch");
    EXPECT_STREQ(corymb_status_name(static_cast<corymb_status>(99)), "unknown");
    in_team(2, [](corymb_team* team) {
        double data[8] = {};
        const auto type = CORYMB_DOUBLE;
        expect_invalid(corymb_broadcast(nullptr, 1, type, 0, team), "output is null");
        expect_invalid(corymb_broadcast(data, 1, type, 2, team), "root 2");
        expect_invalid(corymb_broadcast(CORYMB_IN_PLACE, 1, type, 0, team), "CORYMB_IN_PLACE");
        expect_invalid(corymb_allreduce(nullptr, data, 1, type, CORYMB_SUM, team), "input is null");
        expect_invalid(corymb_allreduce(data, nullptr, 1, type, CORYMB_SUM, team),
                       "output is null");
        expect_invalid(corymb_allreduce(data, data + 1, 2, type, CORYMB_SUM, team), "overlap");
        expect_invalid(corymb_allgather(data, data + 2, SIZE_MAX / 8, type, team), "address space");
        expect_invalid(corymb_allgather(CORYMB_IN_PLACE, data, SIZE_MAX, type, team),
                       "address space");
        expect_invalid(corymb_alltoall(CORYMB_IN_PLACE, data, 1, type, team), "CORYMB_IN_PLACE");
        expect_invalid(corymb_allreduce(data, CORYMB_IN_PLACE, 1, type, CORYMB_SUM, team),
                       "CORYMB_IN_PLACE");
        expect_invalid(
            corymb_allreduce(CORYMB_IN_PLACE, CORYMB_IN_PLACE, 1, type, CORYMB_SUM, team), "both");
        const int other_rank = 1 - corymb_team_rank(team);
        expect_invalid(corymb_reduce(CORYMB_IN_PLACE, data, 1, type, CORYMB_SUM, other_rank, team),
                       "not on this rank");
        expect_invalid(corymb_scatter(data, CORYMB_IN_PLACE, 1, type, other_rank, team),
                       "not on this rank");
        expect_ok(corymb_allreduce(nullptr, nullptr, 0, type, CORYMB_SUM, team));
        corymb_team* part = team;
        expect_invalid(corymb_team_split(nullptr, 0, 0, &part), "the team is NULL");
        EXPECT_EQ(part, nullptr);
        expect_ok(corymb_barrier(team)); // Refused calls have broken nothing.
    });
}

} // namespace

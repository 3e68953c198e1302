// SPDX-License-Identifier: Apache-2.0
// Data that does not lie in one piece, in C.
#include "in_teams.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace {

using namespace c_test;

/// Every third of its numbers.
struct Thirds {
    std::vector<int> places;

    Thirds(std::size_t count, int first) : places(3 * count, -7) {
        for (std::size_t i = 0; i < count; ++i) {
            at(i) = first + static_cast<int>(i);
        }
    }
    int& at(std::size_t i) { return places[3 * i]; }
    void set(int value) {
        for (std::size_t i = 0; i < places.size() / 3; ++i) {
            at(i) = value;
        }
    }
    corymb_packed layout() {
        corymb_packed made{};
        made.count = places.size() / 3;
        made.pack = [](void* context, void* to) {
            auto& from = *static_cast<Thirds*>(context);
            for (std::size_t i = 0; i < from.places.size() / 3; ++i) {
                static_cast<int*>(to)[i] = from.at(i);
            }
        };
        made.unpack = [](void* context, const void* from) {
            auto& to = *static_cast<Thirds*>(context);
            for (std::size_t i = 0; i < to.places.size() / 3; ++i) {
                to.at(i) = static_cast<const int*>(from)[i];
            }
        };
        made.context = this;
        return made;
    }
    [[nodiscard]] bool rest_is_whole() const {
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (i % 3 != 0 && places[i] != -7) {
                return false;
            }
        }
        return true;
    }
};

enum class Form { blocking, nonblocking, persistent };

void perform(Form form, corymb_collective op, Thirds* input, Thirds* output, corymb_op with,
             int root, corymb_team* team) {
    const corymb_packed in = input != nullptr ? input->layout() : corymb_packed{};
    const corymb_packed out = output != nullptr ? output->layout() : corymb_packed{};
    const corymb_packed* from = input != nullptr ? &in : nullptr;
    const corymb_packed* to = output != nullptr ? &out : nullptr;
    const corymb_operation operation = packed(op, from, to, CORYMB_INT, with, root);
    if (form == Form::blocking) {
        expect_ok(corymb_run(&operation, team));
        return;
    }
    corymb_request* request = nullptr;
    if (form == Form::nonblocking) {
        expect_ok(corymb_begin(&operation, team, &request));
    } else {
        expect_ok(corymb_prepare(&operation, team, &request));
        expect_ok(corymb_start(request));
    }
    expect_ok(corymb_wait(&request));
    if (form == Form::persistent) {
        expect_ok(corymb_request_free(&request));
    }
}

class PackedFormsTest : public ::testing::TestWithParam<Form> {};

TEST_P(PackedFormsTest, EveryCollective) {
    in_team(3, [](corymb_team* team) {
        const Form form = GetParam();
        const int rank = corymb_team_rank(team);
        Thirds one(2, rank + 1), all(6, 10 * rank), three(6, 0), two(2, 0);
        perform(form, CORYMB_ALLREDUCE, &one, &two, CORYMB_SUM, 0, team);
        EXPECT_EQ(two.at(1), 9);
        perform(form, CORYMB_REDUCE, &one, rank == 1 ? &two : nullptr, CORYMB_MAX, 1, team);
        EXPECT_EQ(two.at(1), rank == 1 ? 4 : 9);
        perform(form, CORYMB_SCAN, &one, &two, CORYMB_SUM, 0, team);
        EXPECT_EQ(two.at(0), (rank + 1) * (rank + 2) / 2);
        perform(form, CORYMB_EXSCAN, &one, &two, CORYMB_SUM, 0, team);
        EXPECT_EQ(two.at(0), rank == 0 ? 1 : rank * (rank + 1) / 2);
        perform(form, CORYMB_ALLGATHER, &one, &three, CORYMB_NO_OP, 0, team);
        EXPECT_EQ(three.at(5), 4);
        perform(form, CORYMB_ALLTOALL, &all, &three, CORYMB_NO_OP, 0, team);
        EXPECT_EQ(three.at(5), 20 + 2 * rank + 1);
        perform(form, CORYMB_REDUCE_SCATTER, &all, &two, CORYMB_SUM, 0, team);
        EXPECT_EQ(two.at(0), 30 + 3 * (2 * rank));
        perform(form, CORYMB_GATHER, &one, rank == 2 ? &three : nullptr, CORYMB_NO_OP, 2, team);
        EXPECT_EQ(three.at(3), rank == 2 ? 3 : 10 + 2 * rank + 1);
        perform(form, CORYMB_SCATTER, rank == 1 ? &all : nullptr, &two, CORYMB_NO_OP, 1, team);
        EXPECT_EQ(two.at(1), 10 + 2 * rank + 1);
        perform(form, CORYMB_BROADCAST, nullptr, &all, CORYMB_NO_OP, 2, team);
        EXPECT_EQ(all.at(5), 25);
        EXPECT_TRUE(one.rest_is_whole() && all.rest_is_whole() && three.rest_is_whole() &&
                    two.rest_is_whole());
    });
}

std::string name_of(const ::testing::TestParamInfo<Form>& which) {
    constexpr std::array names{"blocking", "nonblocking", "persistent"};
    return names[static_cast<std::size_t>(which.param)];
}

INSTANTIATE_TEST_SUITE_P(Forms, PackedFormsTest,
                         ::testing::Values(Form::blocking, Form::nonblocking, Form::persistent),
                         name_of);

TEST(PackedTest, MessagesInThreeForms) {
    in_team(2, [](corymb_team* team) {
        const int rank = corymb_team_rank(team);
        Thirds data(5, 100 * rank);
        const corymb_packed layout = data.layout();
        corymb_request* request = nullptr;
        const corymb_operation message =
            rank == 0 ? packed(CORYMB_SEND, &layout, nullptr, CORYMB_INT, CORYMB_NO_OP, 1)
                      : packed(CORYMB_RECV, nullptr, &layout, CORYMB_INT, CORYMB_NO_OP, 0);
        expect_ok(corymb_run(&message, team));
        EXPECT_EQ(data.at(4), 4);
        if (rank == 1) {
            data.set(0);
        }
        expect_ok(corymb_begin(&message, team, &request));
        expect_ok(corymb_wait(&request));
        EXPECT_EQ(data.at(4), 4);
        expect_ok(corymb_prepare(&message, team, &request));
        for (int round = 0; round < 3; ++round) {
            data.set(rank == 0 ? round : -1);
            expect_ok(corymb_start(request));
            expect_ok(corymb_wait(&request));
            EXPECT_EQ(data.at(2), round);
        }
        expect_ok(corymb_request_free(&request));
        EXPECT_TRUE(data.rest_is_whole());
    });
}

TEST(PackedTest, WhatDoesNotFitIsRefused) {
    in_team(1, [](corymb_team* team) {
        Thirds data(4, 1);
        corymb_packed whole = data.layout();
        corymb_packed shorter = whole;
        shorter.count = 3;
        corymb_packed silent = whole;
        silent.unpack = nullptr;
        const auto run = [&](corymb_collective op, const corymb_packed* in,
                             const corymb_packed* out) {
            const corymb_operation operation = packed(op, in, out, CORYMB_INT, CORYMB_SUM, 0);
            return corymb_run(&operation, team);
        };
        expect_invalid(run(CORYMB_BARRIER, &whole, &whole), "barrier");
        expect_invalid(run(static_cast<corymb_collective>(99), &whole, &whole), "99");
        expect_invalid(run(CORYMB_ALLREDUCE, &whole, &shorter), "3");
        expect_invalid(run(CORYMB_ALLREDUCE, &whole, nullptr), "0");
        expect_invalid(run(CORYMB_ALLREDUCE, &whole, &silent), "unpack");
        corymb_request* request = nullptr;
        corymb_operation operation =
            packed(CORYMB_ALLREDUCE, &whole, &silent, CORYMB_INT, CORYMB_SUM, 0);
        expect_invalid(corymb_prepare(&operation, team, &request), "unpack");
        expect_invalid(corymb_begin(&operation, team, nullptr), "request");
        const size_t counts[] = {4};
        const corymb_part_lists parts{counts, nullptr, counts, nullptr};
        operation.parts = &parts;
        expect_invalid(corymb_run(&operation, team), "parts");
        operation.op = CORYMB_SEND;
        expect_invalid(corymb_run(&operation, team), "parts");
        EXPECT_EQ(request, nullptr);
        EXPECT_EQ(data.at(3), 4);
    });
    corymb_packed none{};
    const corymb_operation message =
        packed(CORYMB_SEND, &none, nullptr, CORYMB_INT, CORYMB_NO_OP, 0);
    expect_invalid(corymb_run(&message, nullptr), "team");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0
// Collectives in which every rank has a part, and scans: every mode, any root, in place.
#include "limits.hpp"
#include "modes.hpp"
#include "sample_plans.hpp"

#include <corymb/team.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace corymb {
namespace {

using namespace team_test;

constexpr Mechanism cells = Mechanism::cells;

Blocks part(Buffer buffer, Rank rank) {
    return {buffer, static_cast<std::uint32_t>(rank), 1};
}
const Blocks input = part(Buffer::input, 0);
const Blocks output = part(Buffer::output, 0);
const Blocks scratch = part(Buffer::scratch, 0);

Step copied(Blocks from, Blocks to) {
    return step(StepKind::copy, Mechanism::none, -1, from, to);
}
Step sent(Rank to, Blocks from) {
    return step(StepKind::send, cells, to, from);
}
Step received(Rank from, Blocks to) {
    return step(StepKind::recv, cells, from, {}, to);
}
Step folded(Rank from, Blocks own, Blocks to) {
    Step made = step(StepKind::fold, cells, from, own, to);
    made.incoming_first = true;
    return made;
}

using Place = std::function<Blocks(Rank)>;

void send_to_all(std::vector<Step>& steps, Rank rank, Rank size, const Place& outgoing) {
    for (Rank other = 0; other < size; ++other) {
        if (other != rank) {
            steps.push_back(sent(other, outgoing(other)));
        }
    }
}

void receive_from_all(std::vector<Step>& steps, Rank rank, Rank size, const Place& incoming) {
    for (Rank other = 0; other < size; ++other) {
        if (other != rank) {
            steps.push_back(received(other, incoming(other)));
        }
    }
}

/// Everybody sends straight to whom it concerns.
void steps_of(Collective op, Rank rank, Rank size, Rank root, std::vector<Step>& steps) {
    const bool is_root = rank == root;
    const auto in_part = [](Rank of) {
        return part(Buffer::input, of);
    };
    const auto out_part = [](Rank of) {
        return part(Buffer::output, of);
    };
    switch (op) {
    case Collective::gather:
        if (is_root) {
            steps.push_back(copied(input, out_part(rank)));
            receive_from_all(steps, rank, size, out_part);
        } else {
            steps.push_back(sent(root, input));
        }
        break;
    case Collective::scatter:
        if (is_root) {
            send_to_all(steps, rank, size, in_part);
            steps.push_back(copied(in_part(rank), output));
        } else {
            steps.push_back(received(root, output));
        }
        break;
    case Collective::allgather:
        send_to_all(steps, rank, size, [](Rank) { return input; });
        steps.push_back(copied(input, out_part(rank)));
        receive_from_all(steps, rank, size, out_part);
        break;
    case Collective::alltoall:
        send_to_all(steps, rank, size, in_part);
        steps.push_back(copied(in_part(rank), out_part(rank)));
        receive_from_all(steps, rank, size, out_part);
        break;
    case Collective::reduce_scatter:
        send_to_all(steps, rank, size, in_part);
        steps.push_back(copied(in_part(rank), output));
        for (Rank other = 0; other < size; ++other) {
            if (other != rank) {
                steps.push_back(folded(other, output, output));
            }
        }
        break;
    case Collective::scan:
        steps.push_back(rank == 0 ? copied(input, output) : folded(rank - 1, input, output));
        if (rank + 1 < size) {
            steps.push_back(sent(rank + 1, output));
        }
        break;
    default: // exscan
        if (rank > 0) {
            steps.push_back(folded(rank - 1, input, scratch));
            steps.push_back(received(rank - 1, output));
        }
        if (rank + 1 < size) {
            const Blocks sum = rank == 0 ? input : scratch;
            steps.insert(steps.end(), {sent(rank + 1, sum), sent(rank + 1, sum)});
        }
    }
}

TeamOptions direct_plans() {
    TeamOptions options;
    options.deadline = test_limit();
    options.plans = [](const PlanNeed& need) {
        if (need.op == Collective::barrier) {
            return dissemination(need.size);
        }
        Plan plan = empty_plan(need.op, need.size, need.root, need.bytes, 1, "direct");
        plan.scratch_blocks = 1;
        for (Rank rank = 0; rank < need.size; ++rank) {
            steps_of(need.op, rank, need.size, need.root,
                     plan.steps[static_cast<std::size_t>(rank)]);
        }
        return plan;
    };
    return options;
}

/// Element `i` of part `of` that rank `rank` contributes.
std::int64_t value(Rank rank, std::size_t of, std::size_t i) {
    return (rank + 1) * 1'000'000'007LL + static_cast<std::int64_t>(of) * 10'007 +
           static_cast<std::int64_t>(i);
}

using Numbers = std::vector<std::int64_t>;

Numbers parts(Rank rank, std::size_t count, std::size_t number, std::size_t length) {
    Numbers made;
    for (std::size_t of = 0; of < number; ++of) {
        for (std::size_t i = 0; i < length; ++i) {
            made.push_back(value(rank, count + of, i));
        }
    }
    return made;
}

/// All operations that move parts, with `length` elements each.
void check_moves(Team& team, std::size_t length, Rank root, Mode mode) {
    const auto ranks = static_cast<std::size_t>(team.size());
    const auto own = static_cast<std::size_t>(team.rank());
    const bool is_root = team.rank() == root;
    const Numbers one = parts(team.rank(), own, 1, length);
    const Numbers all = parts(team.rank(), 0, ranks, length);
    const std::span<const std::int64_t> single(one), whole(all);
    Numbers gathered(is_root ? ranks * length : 0, -1), everywhere(ranks * length, -1);
    Numbers scattered(length, -1), exchanged(ranks * length, -1);
    const auto from_root = is_root ? whole : std::span<const std::int64_t>();
    in_mode(
        mode, [&] { team.gather(single, std::span(gathered), root); },
        [&] { return team.igather(single, std::span(gathered), root); },
        [&] { return team.gather_init(single, std::span(gathered), root); });
    in_mode(
        mode, [&] { team.scatter(from_root, std::span(scattered), root); },
        [&] { return team.iscatter(from_root, std::span(scattered), root); },
        [&] { return team.scatter_init(from_root, std::span(scattered), root); });
    in_mode(
        mode, [&] { team.allgather(single, std::span(everywhere)); },
        [&] { return team.iallgather(single, std::span(everywhere)); },
        [&] { return team.allgather_init(single, std::span(everywhere)); });
    in_mode(
        mode, [&] { team.alltoall(whole, std::span(exchanged)); },
        [&] { return team.ialltoall(whole, std::span(exchanged)); },
        [&] { return team.alltoall_init(whole, std::span(exchanged)); });
    for (std::size_t of = 0; of < ranks; ++of) {
        for (std::size_t i = 0; i < length; ++i) {
            const std::size_t at = of * length + i;
            const auto rank = static_cast<Rank>(of);
            ASSERT_EQ(everywhere[at], value(rank, of, i));
            ASSERT_EQ(exchanged[at], value(rank, own, i));
            if (is_root) {
                ASSERT_EQ(gathered[at], value(rank, of, i));
            }
        }
    }
    for (std::size_t i = 0; i < length; ++i) {
        ASSERT_EQ(scattered[i], value(root, own, i));
    }
}

void check_sums(Team& team, std::size_t length, Mode mode) {
    const auto ranks = static_cast<std::size_t>(team.size());
    const auto own = static_cast<std::size_t>(team.rank());
    const Numbers one = parts(team.rank(), 0, 1, length);
    const Numbers all = parts(team.rank(), 0, ranks, length);
    const std::span<const std::int64_t> single(one), whole(all);
    Numbers mine(length, -1), upto(length, -1), before(length, -1);
    in_mode(
        mode, [&] { team.reduce_scatter(whole, std::span(mine)); },
        [&] { return team.ireduce_scatter(whole, std::span(mine)); },
        [&] { return team.reduce_scatter_init(whole, std::span(mine)); });
    in_mode(
        mode, [&] { team.scan(single, std::span(upto)); },
        [&] { return team.iscan(single, std::span(upto)); },
        [&] { return team.scan_init(single, std::span(upto)); });
    in_mode(
        mode, [&] { team.exscan(single, std::span(before)); },
        [&] { return team.iexscan(single, std::span(before)); },
        [&] { return team.exscan_init(single, std::span(before)); });
    for (std::size_t i = 0; i < length; ++i) {
        std::int64_t total = 0, prefix = 0;
        for (Rank rank = 0; rank < team.size(); ++rank) {
            total += value(rank, own, i);
            prefix += rank < team.rank() ? value(rank, 0, i) : 0;
        }
        ASSERT_EQ(mine[i], total);
        ASSERT_EQ(upto[i], prefix + value(team.rank(), 0, i));
        ASSERT_EQ(before[i], team.rank() == 0 ? -1 : prefix);
    }
}

TEST(PartsTest, EveryModeGivesTheSame) {
    for (const int size : {1, 2, 3, 5}) {
        threads(
            size,
            [](Team& team) {
                for (const auto mode : {Mode::blocking, Mode::nonblocking, Mode::persistent}) {
                    for (const std::size_t length : {0u, 1u, 7u, 701u}) {
                        for (Rank root = 0; root < team.size(); ++root) {
                            check_moves(team, length, root, mode);
                        }
                        check_sums(team, length, mode);
                    }
                }
            },
            direct_plans());
    }
}

TEST(PartsTest, InPlace) {
    threads(
        3,
        [](Team& team) {
            const auto own = static_cast<std::size_t>(team.rank());
            constexpr std::size_t length = 5;
            const auto place = [&](Numbers& all) {
                return std::span(all).subspan(own * length, length);
            };
            Numbers all(3 * length, team.rank());
            team.allgather(std::span<const std::int64_t>(place(all)), std::span(all));
            for (std::size_t i = 0; i < all.size(); ++i) {
                ASSERT_EQ(all[i], static_cast<std::int64_t>(i / length));
            }
            team.reduce_scatter(std::span<const std::int64_t>(all), place(all));
            for (const auto one : place(all)) {
                ASSERT_EQ(one, 3 * team.rank());
            }
            Numbers sum(length, 1);
            team.scan(std::span<const std::int64_t>(sum), std::span(sum));
            ASSERT_EQ(sum, Numbers(length, team.rank() + 1));
        },
        direct_plans());
}

/// Modular sums: an operator with state.
struct sum_modulo {
    std::int64_t modulus;
    std::int64_t operator()(std::int64_t a, std::int64_t b) const { return (a + b) % modulus; }
};

TEST(PartsTest, OperatorsMayHaveState) {
    threads(
        3,
        [](Team& team) {
            const std::int64_t mine = 5 + team.rank();
            const std::span<const std::int64_t> in(&mine, 1);
            std::int64_t upto[2] = {};
            team.scan(in, std::span(upto, 1), sum_modulo{7});
            Request request; // Outlives the operator that it was given.
            {
                const sum_modulo with{4};
                request = team.iscan(in, std::span(upto + 1, 1), with);
            }
            request.wait();
            const std::int64_t expected[2][3] = {{5, 4, 4}, {5, 3, 2}};
            EXPECT_EQ(upto[0], expected[0][team.rank()]);
            EXPECT_EQ(upto[1], expected[1][team.rank()]);
        },
        direct_plans());
}

TEST(PartsTest, SizesThatDoNotFitAreRefused) {
    ThreadTeam made(2, direct_plans());
    Team team = made.join(0);
    Numbers memory(16);
    const std::span<std::int64_t> all(memory);
    const auto reads = [&](std::size_t at, std::size_t count) {
        return std::span<const std::int64_t>(all.subspan(at, count));
    };
    const auto refused = [](const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "it was not refused";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), Errc::invalid_argument);
        }
    };
    refused([&] { team.gather(reads(0, 2), all.subspan(2, 5)); });
    refused([&] { team.scatter(reads(0, 3), all.subspan(8, 2)); });
    refused([&] { team.allgather(reads(0, 2), all.subspan(2, 3)); });
    refused([&] { team.alltoall(reads(0, 3), all.subspan(8, 3)); });
    refused([&] { team.alltoall(reads(0, 4), all.subspan(8, 2)); });
    refused([&] { team.alltoall(reads(0, 4), all.subspan(0, 4)); });
    refused([&] { team.reduce_scatter(reads(0, 4), all.subspan(8, 4)); });
    refused([&] { team.scan(reads(0, 4), all.subspan(8, 3)); });
    refused([&] { team.scan(reads(0, 4), all.subspan(2, 4)); });
    refused([&] { team.allgather(reads(1, 4), all.subspan(0, 8)); });
    refused([&] { team.gather(reads(0, 2), all.subspan(4, 4), 2); });
    refused([&] { static_cast<void>(team.igather(reads(0, 2), all.subspan(4, 4), -1)); });
}

} // namespace
} // namespace corymb

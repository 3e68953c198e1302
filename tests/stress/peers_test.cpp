// SPDX-License-Identifier: Apache-2.0
// The peers of the benchmark are what they claim to be: barriers hold everybody, group operations
// give everybody the right result. Payloads and counters are plain, so that ThreadSanitizer sees
// whether a peer orders them.
#include "stress.hpp"

#include <threads/peers/central.hpp>
#include <threads/peers/corymb_team.hpp>
#include <threads/peers/dissemination.hpp>
#include <threads/peers/flag_exchange.hpp>
#include <threads/peers/library_barriers.hpp>
#include <threads/peers/shared_memory.hpp>
#include <threads/peers/static_tree.hpp>
#include <threads/worker/crew.hpp>
#include <threads/worker/make.hpp>
#include <threads/worker/slot.hpp>

#include <corymb/barrier.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace corymb::bench {
namespace {

using Make = std::function<std::unique_ptr<Workload>(const Case&)>;

/// Verifies the workload slowly, then runs a slot of it; no result may be wrong.
void expect_right(const Case& what, const Make& make, std::uint64_t operations) {
    const auto workload = make(what);
    Crew crew(what.ranks, {});
    const RunAll run_all = [&crew](const Job& job) {
        crew.run(job);
    };
    crew.run([&](int rank) { workload->enter(rank); });
    EXPECT_EQ(run_verification(what, *workload, run_all, operations), 0U) << describe(what);
    const SlotResult slot = run_slot(what, *workload, run_all, operations);
    EXPECT_EQ(slot.wrong, 0U) << describe(what);
    EXPECT_GT(slot.operation_ns, 0) << describe(what);
    EXPECT_GT(slot.cpu_ns, 0) << describe(what);
}

Case barrier_of(int ranks) {
    return {Operation::barrier, ranks, 0, Regime::alone, false};
}

template <class Barrier>
void expect_barrier() {
    for (const int ranks : {1, 2, 3, 5, 9}) {
        expect_right(
            barrier_of(ranks),
            [](const Case& what) { return make_barrier<Barrier>(what, Waiting::spin_then_yield); },
            stress::rounds(15));
    }
}

TEST(PeerBarrierTest, CentralSense) {
    expect_barrier<CentralSenseBarrier>();
}
TEST(PeerBarrierTest, CentralTicket) {
    expect_barrier<CentralTicketBarrier>();
}
TEST(PeerBarrierTest, Dissemination) {
    expect_barrier<DisseminationBarrier>();
}
TEST(PeerBarrierTest, StaticTree) {
    expect_barrier<StaticTreeBarrier>();
}
TEST(PeerBarrierTest, Std) {
    expect_barrier<StdBarrier>();
}
TEST(PeerBarrierTest, Pthread) {
    expect_barrier<PthreadBarrier>();
}
TEST(PeerBarrierTest, CorymbDropIn) {
    expect_barrier<Anonymous<corymb::barrier<>>>();
}

template <class Barrier>
void expect_pair_barrier() {
    expect_right(
        barrier_of(2), [](const Case& what) { return make_barrier<Barrier>(what, Waiting::spin); },
        stress::rounds(10));
}

TEST(PeerBarrierTest, FlagExchangeHoldsTwo) {
    expect_pair_barrier<FlagExchange<Store::plain, false>>();
    expect_pair_barrier<FlagExchange<Store::plain, true>>();
    expect_pair_barrier<FlagExchange<Store::exchange, false>>();
    expect_pair_barrier<FlagExchange<Store::exchange, true>>();
}

/// A barrier that lets everybody through: the check of the benchmark must notice.
class NoBarrier {
public:
    NoBarrier(int /*size*/, Waiting /*waiting*/) {}
    struct Member {
        void arrive_and_wait() noexcept {}
    };
    Member join(int /*rank*/) { return {}; }
};

TEST(PeerBarrierTest, TheCheckNoticesABarrierThatHoldsNobody) {
    const Case what = barrier_of(4);
    const auto workload = make_barrier<NoBarrier>(what, Waiting::spin);
    Crew crew(what.ranks, {});
    crew.run([&](int rank) { workload->enter(rank); });
    const RunAll one_after_the_other = [&](const Job& job) {
        for (int turn = 0; turn < what.ranks; ++turn) {
            crew.run([&](int rank) {
                if (rank == turn) {
                    job(rank);
                }
            });
        }
    };
    EXPECT_GT(run_verification(what, *workload, one_after_the_other, 3), 0U);
}

template <class Shared>
void expect_operations(const std::vector<int>& sizes, Waiting waiting, std::uint64_t operations) {
    for (const Operation op : {Operation::broadcast, Operation::broadcast_stream, Operation::reduce,
                               Operation::allreduce}) {
        for (const int ranks : sizes) {
            // One element, the last size that is staged, the first that is not.
            for (const std::size_t bytes : {8U, 4096U, 4104U}) {
                expect_right(
                    {op, ranks, bytes, Regime::alone, false},
                    [waiting](const Case& what) {
                        return make_payload<Shared>(what, what.bytes, waiting);
                    },
                    operations);
            }
        }
    }
}

TEST(PeerOperationTest, SharedMemoryOverCentralBarrier) {
    expect_operations<SharedMemory<CentralSenseBarrier>>({2, 5}, Waiting::spin_then_yield,
                                                         stress::rounds(6));
}

TEST(PeerOperationTest, SharedMemoryOverStdBarrier) {
    expect_operations<SharedMemory<StdBarrier>>({2, 5}, Waiting::spin, stress::rounds(30));
}

TEST(PeerOperationTest, FlagTransferOfTwo) {
    for (const Operation op : {Operation::broadcast, Operation::reduce, Operation::allreduce}) {
        for (const std::size_t bytes : {8U, 56U, 64U, 4096U}) {
            expect_right(
                {op, 2, bytes, Regime::alone, false},
                [](const Case& what) {
                    return make_payload<FlagTransfer>(what, what.bytes, Waiting::spin);
                },
                stress::rounds(8));
        }
    }
}

TEST(PeerOperationTest, Corymb) {
    for (const Operation op : {Operation::broadcast, Operation::broadcast_stream, Operation::reduce,
                               Operation::allreduce}) {
        for (const std::size_t bytes : {8U, 4096U, 40000U}) {
            expect_right(
                {op, 3, bytes, Regime::alone, false},
                [](const Case& what) {
                    return make_payload<CorymbTeam>(what, WaitPolicy::ladder, std::vector<int>{});
                },
                stress::rounds(30));
        }
    }
}

TEST(SlotTest, ALateRankIsNotPartOfTheLatency) {
    const Case what{Operation::barrier, 2, 0, Regime::late, false};
    const auto workload = make_barrier<StdBarrier>(what, Waiting::spin);
    Crew crew(what.ranks, {});
    const RunAll run_all = [&crew](const Job& job) {
        crew.run(job);
    };
    crew.run([&](int rank) { workload->enter(rank); });
    const std::int64_t begin = wall_ns();
    const SlotResult slot = run_slot(what, *workload, run_all, 4);
    EXPECT_GE(wall_ns() - begin, 4 * late_ns);
    EXPECT_GT(slot.operation_ns, 0);
    EXPECT_EQ(slot.wrong, 0U);
}

} // namespace
} // namespace corymb::bench

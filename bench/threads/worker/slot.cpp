// SPDX-License-Identifier: Apache-2.0
#include "slot.hpp"

#include "../peers/central.hpp"
#include "../statistics.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace corymb::bench {

namespace {

struct Record {
    std::int64_t begin = 0, end = 0, cpu = 0;
    std::uint64_t wrong = 0;
};

using Records = std::vector<Padded<Record>>;

std::uint64_t wrong_of(const Records& records) {
    return std::accumulate(
        records.begin(), records.end(), std::uint64_t{0},
        [](std::uint64_t sum, const auto& record) { return sum + record.value.wrong; });
}

double cpu_of(const Records& records) {
    return std::accumulate(records.begin(), records.end(), 0.0, [](double sum, const auto& record) {
        return sum + static_cast<double>(record.value.cpu);
    });
}

/// From the moment when the last rank had started to the moment when the last one was done.
double latency_of(const std::vector<std::vector<Passage>>& passages, std::size_t operation) {
    std::int64_t arrived = passages[0][operation].arrived;
    std::int64_t left = passages[0][operation].left;
    for (const auto& rank : passages) {
        arrived = std::max(arrived, rank[operation].arrived);
        left = std::max(left, rank[operation].left);
    }
    return static_cast<double>(left - arrived);
}

/// As latency_of, of the operations of a whole slot.
double span_of(const Records& records) {
    std::int64_t begin = records[0].value.begin;
    std::int64_t end = records[0].value.end;
    for (const auto& record : records) {
        begin = std::max(begin, record.value.begin);
        end = std::max(end, record.value.end);
    }
    return static_cast<double>(end - begin);
}

/// Latency of an operation with a late rank: from the last arrival until the last rank has left.
double late_median(const std::vector<std::vector<Passage>>& passages) {
    std::vector<double> latencies;
    for (std::size_t k = 0; k < passages[0].size(); ++k) {
        latencies.push_back(latency_of(passages, k));
    }
    return quartiles(std::move(latencies)).median;
}

} // namespace

SlotResult run_slot(const Case& what, Workload& workload, const RunAll& run_all,
                    std::uint64_t operations) {
    const auto ranks = static_cast<std::size_t>(what.ranks);
    const bool late = what.regime == Regime::late;
    Records records(ranks);
    std::vector<std::vector<Passage>> passages(ranks);
    CentralTicketBarrier gate(what.ranks, Waiting::spin_then_yield);
    run_all([&](int rank) {
        Record& record = records[static_cast<std::size_t>(rank)].value;
        auto& mine = passages[static_cast<std::size_t>(rank)];
        mine.resize(late ? operations : 0);
        auto member = gate.join(rank);
        member.arrive_and_wait();
        if (!late) {
            record.wrong += workload.run(rank, operations / 16 + 1);
        }
        member.arrive_and_wait();
        const std::int64_t cpu = thread_cpu_ns();
        record.begin = wall_ns();
        record.wrong += late ? workload.run_late(rank, mine) : workload.run(rank, operations);
        record.end = wall_ns();
        record.cpu = thread_cpu_ns() - cpu;
    });
    const auto count = static_cast<double>(operations);
    return {late ? late_median(passages) : span_of(records) / count, cpu_of(records) / count,
            wrong_of(records)};
}

FirstCalls run_first(const Case& what, Workload& workload, const RunAll& run_all) {
    const std::size_t calls = has_moving_root(what.op) ? static_cast<std::size_t>(what.ranks) : 1;
    Records records(static_cast<std::size_t>(what.ranks));
    std::vector<std::vector<Passage>> passages(records.size());
    CentralTicketBarrier gate(what.ranks, Waiting::spin_then_yield);
    run_all([&](int rank) {
        auto& mine = passages[static_cast<std::size_t>(rank)];
        mine.resize(calls);
        auto member = gate.join(rank);
        for (Passage& passage : mine) {
            member.arrive_and_wait();
            passage.arrived = wall_ns();
            records[static_cast<std::size_t>(rank)].value.wrong += workload.run(rank, 1);
            passage.left = wall_ns();
        }
    });
    FirstCalls first{{}, wrong_of(records)};
    for (std::size_t call = 0; call < calls; ++call) {
        first.operation_ns.push_back(latency_of(passages, call));
    }
    return first;
}

std::uint64_t run_verification(const Case& what, Workload& workload, const RunAll& run_all,
                               std::uint64_t operations) {
    Records records(static_cast<std::size_t>(what.ranks));
    run_all([&](int rank) {
        records[static_cast<std::size_t>(rank)].value.wrong = workload.verify(rank, operations);
    });
    return wrong_of(records);
}

} // namespace corymb::bench

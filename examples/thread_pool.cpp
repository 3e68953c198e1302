// SPDX-License-Identifier: Apache-2.0
// Rounds of a thread pool that exists already. They end at a std::barrier, then at a
// corymb::barrier, then in the allreduce of a team. Prints the time of a round for each.
#include <corymb/barrier.hpp>
#include <corymb/operators.hpp>
#include <corymb/team.hpp>
#include <corymb/usable_cpus.hpp>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int cells = 64, rounds = 20'000;

/// Stands for your pool: it runs a function on each of its workers at the same time.
struct Pool {
    int size;
    void run(const std::function<void(int)>& job) const {
        std::vector<std::jthread> workers;
        for (int worker = 0; worker < size; ++worker) {
            workers.emplace_back(job, worker);
        }
    }
};

/// A rod that is hot at one end. Each worker has some of its cells.
struct Rod {
    explicit Rod(int count) : workers(count) { now.front() = before.front() = 100; }
    /// Moves this worker's cells on by a round and returns their largest change.
    double relax(int worker, int round) {
        const auto& from = round % 2 == 0 ? before : now;
        auto& to = round % 2 == 0 ? now : before;
        double change = 0;
        for (int i = 1 + worker * cells / workers; i <= (worker + 1) * cells / workers; ++i) {
            const auto at = static_cast<std::size_t>(i);
            to[at] = (from[at - 1] + from[at + 1]) / 2;
            change = std::max(change, std::abs(to[at] - from[at]));
        }
        return change;
    }
    int workers;
    std::vector<double> now = std::vector<double>(cells + 2), before = now;
};

int end_rounds_at(auto& barrier, Pool& pool) {
    Rod rod(pool.size);
    pool.run([&](int worker) {
        for (int round = 0; round < rounds; ++round) {
            rod.relax(worker, round);
            barrier.arrive_and_wait();
        }
    });
    return rounds;
}

int end_rounds_in(corymb::ThreadTeam& members, Pool& pool) {
    Rod rod(pool.size);
    int done = 0;
    pool.run([&](int worker) {
        corymb::Team team = members.join(worker);
        double change = 1; // The rod's largest, so all workers leave in the same round.
        int round = 0;
        while (change > 1e-4 && round < rounds) {
            change = team.allreduce(rod.relax(worker, round++), corymb::maximum());
        }
        if (worker == 0) {
            done = round;
        }
    });
    return done;
}

void report(const char* name, const std::function<int()>& all_rounds) {
    const auto begin = std::chrono::steady_clock::now();
    const int done = all_rounds();
    const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    std::printf("%-16s %6d rounds, %7.0f ns a round\n", name, done, time.count() / done);
}

} // namespace

int main(int argc, char** argv) {
    Pool pool{argc > 1 ? std::stoi(argv[1]) : std::max(2, corymb::usable_cpus().count())};
    std::barrier standard(pool.size);
    corymb::barrier ours(pool.size);
    corymb::ThreadTeam members(pool.size);
    report("std::barrier", [&] { return end_rounds_at(standard, pool); });
    report("corymb::barrier", [&] { return end_rounds_at(ours, pool); });
    report("corymb::Team", [&] { return end_rounds_in(members, pool); });
}

// SPDX-License-Identifier: Apache-2.0
// Shared structures of several processes, and of such that are killed.
#include "remote_children.hpp"

#include <corymb/distributed.hpp>
#include <corymb/error.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/shared_array.hpp>
#include <corymb/shared_map.hpp>
#include <corymb/this_task.hpp>
#include <corymb/work_queue.hpp>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace corymb {
namespace {

using namespace process_test;

/// Bytes of the group's memory that have pages.
std::size_t bytes_taken(const Descriptor& group) {
    struct stat status{};
    require(::fstat(group.number(), &status) == 0, "the memory can be asked");
    return static_cast<std::size_t>(status.st_blocks) * 512;
}

/// `life(rank)` is the task of each rank; rank 0 is this process.
void among_processes(int size, const std::function<Task<>(Rank)>& life) {
    RemoteGroup group(size, shared());
    const Descriptor descriptor(group);
    Children children;
    for (Rank rank = 1; rank < size; ++rank) {
        children.start([&, rank] {
            RemoteRank own = RemoteGroup::open(descriptor.number()).join(rank);
            own.run(life(rank));
        });
    }
    RemoteRank own = group.join(0);
    own.run(life(0));
    children.expect_all_good();
}

TEST(SharedProcesses, TouchOneArray) {
    static constexpr int size = 3;
    for (const bool by_calls : {false, true}) {
        among_processes(size, [by_calls](Rank rank) -> Task<> {
            constexpr std::size_t count = 1000;
            SharedArrayOptions<long> options;
            options.mapping = ArrayMapping::tiled(16);
            options.by_calls = by_calls;
            auto array = co_await SharedArray<long>::make("array", count, options);
            for (std::size_t index = 0; index < count; ++index) {
                co_await array.accumulate(index, static_cast<long>(index) + rank);
            }
            co_await array.freeze();
            for (std::size_t index = 0; index < count; ++index) {
                const long wanted = static_cast<long>(index) * size + 3;
                require(co_await array.get(index) == wanted, "all have added");
            }
            co_await array.thaw();
        });
    }
}

/// This process's part of the shared memory that it maps, in bytes; a page of several counts once.
double share_of_memory() {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (double kib = 0; word == "Pss_Shmem:" && file >> kib) {
            return kib * 1024;
        }
    }
    throw Error(Errc::io, "/proc/self/smaps_rollup has no Pss_Shmem");
}

TEST(SharedProcesses, WhatAllReadIsThereOnce) {
    among_processes(4, [](Rank rank) -> Task<> {
        constexpr std::size_t count = std::size_t{4} << 20U;
        Distributed<double> taken("taken", 0.0);
        RankBarrier barrier("read");
        const double before = share_of_memory();
        co_await barrier.arrive();
        auto array = co_await SharedArray<double>::make("array", count);
        std::ranges::fill(array.local(), 1.0);
        co_await array.freeze();
        double sum = 0;
        for (std::size_t index = 0; index < count; ++index) {
            sum += co_await array.get(index);
        }
        require(sum == static_cast<double>(count), "all is read");
        co_await barrier.arrive();
        co_await taken.on(0).call([](double& all, double own) { all += own; },
                                  share_of_memory() - before);
        co_await barrier.arrive();
        if (rank == 0) {
            const double bytes = static_cast<double>(count) * sizeof(double);
            require(*taken > 0.99 * bytes && *taken < 1.05 * bytes, "there is one copy");
        }
    });
}

TEST(SharedProcesses, WhatAKilledRankOwnedIsGivenBack) {
    constexpr std::size_t count = std::size_t{3} << 20;
    RemoteGroup group(3, shared());
    const Descriptor descriptor(group);
    Children children;
    const auto life = [](const Descriptor& of, Rank rank) -> Task<> {
        const std::size_t before = bytes_taken(of);
        {
            auto array = co_await SharedArray<char>::make("parts", count);
            if (rank == 1) {
                array.local()[5] = 'x';
            }
            co_await array.sync();
            if (rank == 1) {
                ::raise(SIGKILL);
            }
            const std::size_t first = array.layout().index(1, 0);
            require(co_await array.get(first + 5) == 'x', "what it has written is there");
            try {
                co_await array.sync();
                require(false, "a rank is missing");
            } catch (const Error& error) {
                require(error.code() == Errc::team_broken, error.what());
                require(error.ranks() == std::vector<int>{1}, "the killed one is named");
            }
        }
        if (rank == 2) {
            co_return;
        }
        while (bytes_taken(of) > before + count / 4) { // The other one has it open for a while.
            co_await this_task::sleep_for(1ms);
        }
    };
    const auto victim = children.start([&] {
        RemoteRank own = RemoteGroup::open(descriptor.number()).join(1);
        own.run(life(descriptor, 1));
    });
    children.start([&] {
        RemoteRank own = RemoteGroup::open(descriptor.number()).join(2);
        own.run(life(descriptor, 2));
    });
    RemoteRank own = group.join(0);
    own.run(life(descriptor, 0));
    EXPECT_EQ(children.wait(victim), SIGKILL);
    children.expect_all_good();
}

TEST(SharedProcesses, ARankThatIsKilledInItsWorkIsNamed) {
    RemoteGroup group(3, shared());
    const Descriptor descriptor(group);
    Children children;
    using Map = SharedMap<int, int>;
    const auto life = [](Rank rank, std::optional<Map>& kept) -> Task<> {
        Map& map = kept.emplace("map"); // Ends when the tasks of all ranks have ended.
        RankBarrier barrier("begun");
        for (int key = 10 * rank; key < 10 * rank + 10; ++key) {
            co_await map.put(key, rank);
        }
        co_await barrier.arrive();
        WorkQueue<int> queue("work");
        for (int item = 0; item < 5; ++item) {
            queue.push(item);
        }
        try {
            co_await queue.run([rank](int item) {
                if (rank == 1 && item == 4) {
                    ::raise(SIGKILL);
                }
            });
            require(false, "a rank was killed in its work");
        } catch (const Error& error) {
            require(error.code() == Errc::team_broken, error.what());
            require(error.ranks() == std::vector<int>{1}, "the killed one is named");
        }
        for (int key = 0; key < 30; ++key) {
            try {
                require(co_await map.get(key) == key / 10, "entries of others are there");
                require(map.owner(key) != 1, "its entries are lost");
            } catch (const Error& error) {
                require(error.ranks() == std::vector<int>{1}, error.what());
                require(map.owner(key) == 1, "entries of others are there");
            }
        }
    };
    const auto victim = children.start([&] {
        RemoteRank own = RemoteGroup::open(descriptor.number()).join(1);
        std::optional<Map> map;
        own.run(life(1, map));
    });
    children.start([&] {
        RemoteRank own = RemoteGroup::open(descriptor.number()).join(2);
        std::optional<Map> map;
        own.run(life(2, map));
    });
    RemoteRank own = group.join(0);
    std::optional<Map> map;
    own.run(life(0, map));
    EXPECT_EQ(children.wait(victim), SIGKILL);
    children.expect_all_good();
}

} // namespace
} // namespace corymb

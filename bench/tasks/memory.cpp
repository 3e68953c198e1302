// SPDX-License-Identifier: Apache-2.0
// What 1 GiB that eight processes read costs in memory: as one shared array, and as a copy in each.
// The sum of what the kernel says is each one's share (PSS): a page of several counts once.
#include "row.hpp"

#include <corymb/distributed.hpp>
#include <corymb/rank_barrier.hpp>
#include <corymb/remote.hpp>
#include <corymb/shared_array.hpp>

#include <cstddef>
#include <fstream>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace corymb::bench {
namespace {

constexpr int processes = 8;
constexpr std::size_t count = (std::size_t{1} << 30U) / sizeof(double);

/// In bytes.
double share_of_this_process() {
    std::ifstream file("/proc/self/smaps_rollup");
    std::string word;
    double kib = 0;
    while (file >> word) {
        if (word == "Pss:" && file >> kib) {
            return kib * 1024;
        }
    }
    throw std::runtime_error("/proc/self/smaps_rollup has no Pss");
}

/// Each rank reads `parts` and says what it has taken while all have them.
Task<> read_and_tell(std::vector<std::span<const double>> parts, double& bytes, double& ns) {
    Distributed<double> all_bytes("bytes", 0.0);
    RankBarrier barrier("read");
    const auto begin = Clock::now();
    double sum = 0;
    for (const auto& part : parts) {
        sum = std::accumulate(part.begin(), part.end(), sum);
    }
    ns = ns_since(begin) / count;
    if (sum != static_cast<double>(count)) {
        throw std::runtime_error("what was read is not what was written");
    }
    co_await barrier.arrive();
    co_await all_bytes.on(0).call([](double& all, double own) { all += own; },
                                  share_of_this_process());
    co_await barrier.arrive();
    bytes = *all_bytes;
}

Task<> share_one(double& bytes, double& ns) {
    auto array = co_await SharedArray<double>::make("array", count);
    std::ranges::fill(array.local(), 1.0);
    co_await array.freeze();
    std::vector<std::span<const double>> parts;
    for (Rank rank = 0; rank < ranks(); ++rank) {
        parts.push_back(array.near(rank));
    }
    co_await read_and_tell(std::move(parts), bytes, ns);
}

Task<> have_copies(double& bytes, double& ns) {
    const std::vector<double> copy(count, 1.0);
    std::vector<std::span<const double>> parts;
    parts.emplace_back(copy);
    co_await read_and_tell(std::move(parts), bytes, ns);
}

Row among_processes(const char* name, Task<> (*life)(double& bytes, double& ns)) {
    RemoteOptions options;
    options.between_processes = true;
    RemoteGroup group(processes, options);
    const int descriptor = group.make_descriptor();
    double bytes = 0;
    double ns = 0;
    for (Rank rank = 1; rank < processes; ++rank) {
        if (::fork() == 0) {
            {
                RemoteRank own = RemoteGroup::open(descriptor).join(rank);
                own.run(life(bytes, ns));
            }
            ::_exit(0);
        }
    }
    group.join(0).run(life(bytes, ns));
    while (::wait(nullptr) > 0) {
    }
    ::close(descriptor);
    return {name, processes, {ns, ns, ns}, bytes};
}

} // namespace

std::vector<Row> memory() {
    return {among_processes("one", share_one), among_processes("copies", have_copies)};
}

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Threads of ours that run one job after another; between jobs they sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace corymb::bench {

/// A function of the rank, run on every rank's thread.
using Job = std::function<void(int rank)>;

class Crew {
public:
    /// With `cpus`, thread r binds itself to cpus[r].
    Crew(int size, const std::vector<int>& cpus);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    /// Returns when all ranks have done the job. The job must not throw.
    void run(const Job& job);
    /// After the first job: whether the system let every thread bind itself.
    [[nodiscard]] bool bound() const noexcept { return bound_.load(std::memory_order_relaxed); }

private:
    void work(int rank);

    std::mutex mutex_;
    std::condition_variable changed_;
    const Job* job_ = nullptr;
    std::uint64_t generation_ = 0;
    int busy_ = 0;
    bool closing_ = false;
    std::atomic<bool> bound_{true};
    std::vector<std::thread> threads_;
};

} // namespace corymb::bench

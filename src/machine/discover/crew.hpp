// SPDX-License-Identifier: Apache-2.0
// The threads that measure: bound to the CPUs in question, while the calling thread sleeps.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace corymb::discover {

/// A set of threads that are bound anew for each run. The calling thread is never bound. Not
/// thread-safe: one caller.
class Crew {
public:
    /// `tick` is called about ten times a second on the calling thread while it waits; false asks
    /// the bodies to stop.
    explicit Crew(std::function<bool()> tick);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    /// Runs body(i) on its own thread bound to cpus[i] and returns when all have ended. The bodies
    /// must look at `stop()` wherever they wait. Throws Errc::unsupported if a thread cannot start.
    void run(std::span<const int> cpus, const std::function<void(int)>& body);

    /// Set when a body gave up or the caller wants to end; cleared by the next run.
    [[nodiscard]] std::atomic<bool>& stop() noexcept { return stop_; }
    /// Whether the tick has refused: nothing more should be measured.
    [[nodiscard]] bool refused() const noexcept { return refused_; }
    /// Whether every thread so far could be bound.
    [[nodiscard]] bool pinned() const noexcept { return pinned_.load(std::memory_order_relaxed); }

private:
    struct Worker;

    void keep_at_least(std::size_t count);
    void serve(Worker& worker);

    std::function<bool()> tick_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> pinned_{true};
    bool refused_ = false;
};

} // namespace corymb::discover

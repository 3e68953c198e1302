// SPDX-License-Identifier: Apache-2.0
#include "machine/discover/crew.hpp"

#include "base/usable_cpus.hpp"

#include <corymb/error.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace corymb::discover {

/// One thread and what it is to do next. All fields but the thread are guarded by the mutex.
struct Crew::Worker {
    std::mutex mutex;
    std::condition_variable changed;
    const std::function<void(int)>* body = nullptr; ///< Null: nothing to do.
    int index = 0;
    int cpu = -1;
    bool leave = false;
    std::thread thread;
};

Crew::Crew(std::function<bool()> tick) : tick_(std::move(tick)) {}

Crew::~Crew() {
    for (auto& worker : workers_) {
        {
            const std::lock_guard lock(worker->mutex);
            worker->leave = true;
        }
        worker->changed.notify_all();
        worker->thread.join();
    }
}

void Crew::serve(Worker& worker) {
    int bound_to = -1;
    std::unique_lock lock(worker.mutex);
    for (;;) {
        worker.changed.wait(lock, [&] { return worker.body != nullptr || worker.leave; });
        if (worker.body == nullptr) {
            return;
        }
        const std::function<void(int)>& body = *worker.body;
        const int cpu = worker.cpu;
        lock.unlock();
        if (cpu != bound_to) {
            if (set_affinity_mask({cpu})) {
                bound_to = cpu;
            } else {
                pinned_.store(false, std::memory_order_relaxed);
            }
        }
        body(worker.index);
        lock.lock();
        worker.body = nullptr;
        worker.changed.notify_all();
    }
}

void Crew::keep_at_least(std::size_t count) {
    while (workers_.size() < count) {
        auto worker = std::make_unique<Worker>();
        worker->index = static_cast<int>(workers_.size());
        try {
            worker->thread = std::thread([this, &serving = *worker] { serve(serving); });
        } catch (const std::system_error& error) {
            throw Error(Errc::unsupported,
                        std::string("cannot start a measuring thread (") + error.what() +
                            "); raise the limit on processes (ulimit -u, pids cgroup)");
        }
        workers_.push_back(std::move(worker));
    }
}

void Crew::run(std::span<const int> cpus, const std::function<void(int)>& body) {
    keep_at_least(cpus.size());
    stop_.store(refused_, std::memory_order_relaxed);
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        Worker& worker = *workers_[i];
        {
            const std::lock_guard lock(worker.mutex);
            worker.body = &body;
            worker.cpu = cpus[i];
        }
        worker.changed.notify_all();
    }
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        Worker& worker = *workers_[i];
        std::unique_lock lock(worker.mutex);
        while (!worker.changed.wait_for(lock, std::chrono::milliseconds(100),
                                        [&] { return worker.body == nullptr; })) {
            lock.unlock();
            if (!refused_ && !tick_()) {
                refused_ = true;
                stop_.store(true, std::memory_order_relaxed);
            }
            lock.lock();
        }
    }
    if (!refused_ && !tick_()) {
        refused_ = true;
    }
}

} // namespace corymb::discover

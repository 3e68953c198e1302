// SPDX-License-Identifier: Apache-2.0
#include "crew.hpp"

#include "../case.hpp"

namespace corymb::bench {

Crew::Crew(int size, const std::vector<int>& cpus) {
    for (int rank = 0; rank < size; ++rank) {
        const int cpu = cpus.empty() ? -1 : cpus[static_cast<std::size_t>(rank)];
        threads_.emplace_back([this, rank, cpu] {
            if (cpu >= 0 && !bind_this_thread(cpu)) {
                bound_.store(false, std::memory_order_relaxed);
            }
            work(rank);
        });
    }
}

Crew::~Crew() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) {
        thread.join();
    }
}

void Crew::run(const Job& job) {
    std::unique_lock lock(mutex_);
    job_ = &job;
    busy_ = static_cast<int>(threads_.size());
    ++generation_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::work(int rank) {
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return closing_ || generation_ != seen; });
        if (closing_) {
            return;
        }
        seen = generation_;
        const Job& job = *job_;
        lock.unlock();
        job(rank);
        lock.lock();
        if (--busy_ == 0) {
            changed_.notify_all();
        }
    }
}

} // namespace corymb::bench

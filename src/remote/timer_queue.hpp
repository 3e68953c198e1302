// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/make_room.hpp"

#include <corymb/this_task.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace corymb::detail {

/// The waits of a scheduler for a time: a binary heap by time, from which a wait leaves in
/// logarithmic time wherever it stands.
class TimerQueue {
public:
    [[nodiscard]] bool is_empty() const noexcept { return heap_.empty(); }
    /// Needs one.
    [[nodiscard]] std::int64_t next_ns() const noexcept { return heap_.front()->due_ns_; }

    /// For one more.
    void make_room() { corymb::make_room(heap_, heap_.size() + 1); }
    void push(TimerAwait& timer) noexcept {
        heap_.push_back(&timer);
        timer.index_ = heap_.size() - 1;
        rise(timer.index_);
    }
    void remove(TimerAwait& timer) noexcept {
        const std::size_t gap = timer.index_;
        TimerAwait* const last = heap_.back();
        heap_.pop_back();
        if (last != &timer) {
            put(gap, *last);
            rise(gap);
            sink(last->index_);
        }
    }
    /// Wakes those that are due.
    void wake_due(std::int64_t now_ns) noexcept {
        while (!heap_.empty() && next_ns() <= now_ns) {
            TimerAwait& due = *heap_.front();
            remove(due);
            due.wake();
        }
    }

private:
    void put(std::size_t index, TimerAwait& timer) noexcept {
        heap_[index] = &timer;
        timer.index_ = index;
    }
    void swap(std::size_t one, std::size_t other) noexcept {
        TimerAwait& moved = *heap_[one];
        put(one, *heap_[other]);
        put(other, moved);
    }
    [[nodiscard]] bool is_before(std::size_t one, std::size_t other) const noexcept {
        return heap_[one]->due_ns_ < heap_[other]->due_ns_;
    }
    void rise(std::size_t index) noexcept {
        while (index > 0 && is_before(index, (index - 1) / 2)) {
            swap(index, (index - 1) / 2);
            index = (index - 1) / 2;
        }
    }
    void sink(std::size_t index) noexcept {
        for (std::size_t child = 2 * index + 1; child < heap_.size(); child = 2 * index + 1) {
            if (child + 1 < heap_.size() && is_before(child + 1, child)) {
                ++child;
            }
            if (!is_before(child, index)) {
                return;
            }
            swap(index, child);
            index = child;
        }
    }

    std::vector<TimerAwait*> heap_;
};

} // namespace corymb::detail

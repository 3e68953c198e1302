// SPDX-License-Identifier: Apache-2.0
// What the Env of a world can do. Outside of an execution, while a world is built or judged, there
// is only one thread and every operation is plain.
#include "explorer/explorer.hpp"
#include "explorer/trace.hpp"

#include <algorithm>

namespace corymb::verify {

std::memory_order Explorer::weakened(std::memory_order order) const noexcept {
    const bool no_release = options_.fault == Fault::release_is_relaxed;
    const bool no_acquire = options_.fault == Fault::acquire_is_relaxed;
    switch (order) {
    case std::memory_order_release: return no_release ? std::memory_order_relaxed : order;
    case std::memory_order_acquire: return no_acquire ? std::memory_order_relaxed : order;
    case std::memory_order_acq_rel:
        return no_release   ? std::memory_order_acquire
               : no_acquire ? std::memory_order_release
                            : order;
    default: return order;
    }
}

std::uint64_t Explorer::load(LocationId location, std::memory_order order,
                             std::source_location where) {
    if (current_ < 0) {
        return memory_.newest(location);
    }
    order = weakened(order);
    const Operation operation{Kind::load, location, order, -1, {}, where};
    reach(operation);
    const StoreId from = choose_store(candidates(current_));
    const std::uint64_t value = memory_.read(current_, location, from, order);
    trace(operation, read_text(value, memory_.store_at(location, from)));
    step_done();
    return value;
}

std::uint64_t Explorer::await(LocationId location, std::memory_order order, Predicate predicate,
                              std::source_location where) {
    if (current_ < 0) {
        return memory_.newest(location);
    }
    order = weakened(order);
    const Operation operation{Kind::await, location, order, -1, predicate, where};
    reach(operation);
    const StoreId from = choose_store(candidates(current_));
    const std::uint64_t value = memory_.read(current_, location, from, order);
    trace(operation, read_text(value, memory_.store_at(location, from)));
    step_done();
    return value;
}

void Explorer::store(LocationId location, std::uint64_t value, std::memory_order order,
                     std::source_location where) {
    if (current_ < 0) {
        memory_.overwrite(location, value);
        return;
    }
    order = weakened(order);
    const Operation operation{Kind::store, location, order, -1, {}, where};
    reach(operation);
    const auto places = memory_.placements(current_, location, order);
    const StoreId after = places[choose(places.size())];
    memory_.write(current_, location, value, order, after, false, steps_);
    trace(operation, written_text(value, after == places.front()));
    step_done();
}

std::uint64_t Explorer::modify_read(LocationId location, std::memory_order order,
                                    std::source_location where) {
    if (current_ < 0) {
        return memory_.newest(location);
    }
    order = weakened(order);
    reach({Kind::exchange, location, order, -1, {}, where});
    last_read_ = choose_store(candidates(current_));
    return memory_.read(current_, location, last_read_, order);
}

void Explorer::modify_write(LocationId location, std::uint64_t value, std::memory_order order) {
    if (current_ < 0) {
        memory_.overwrite(location, value);
        return;
    }
    memory_.write(current_, location, value, weakened(order), last_read_, true, steps_);
    const Store& from = memory_.store_at(location, last_read_);
    trace(threads_[static_cast<std::size_t>(current_)].next,
          read_text(from.value, from) + ", writes " + value_text(value));
    step_done();
}

void Explorer::fence(std::memory_order order, std::source_location where) {
    if (current_ < 0) {
        return;
    }
    const Operation operation{Kind::fence, 0, order, -1, {}, where};
    if (order == std::memory_order_seq_cst) {
        reach(operation);
    }
    memory_.fence(current_, order);
    trace(operation, "");
    step_done();
}

void Explorer::full_fence(std::source_location where) {
    if (options_.fault != Fault::no_full_fence) {
        fence(std::memory_order_seq_cst, where);
    }
}

void Explorer::light_fence(std::source_location where) {
    if (current_ < 0 || options_.fault == Fault::no_light_fence) {
        return;
    }
    const Operation operation{Kind::light_fence, 0, {}, -1, {}, where};
    reach(operation);
    memory_.light_fence(current_);
    trace(operation, "");
    step_done();
}

void Explorer::heavy_fence(std::source_location where) {
    if (current_ < 0 || options_.fault == Fault::no_heavy_fence) {
        return;
    }
    const Operation begin{Kind::heavy_begin, 0, {}, -1, {}, where};
    reach(begin);
    memory_.heavy_begin(current_);
    trace(begin, "");
    step_done();

    heavy_moments(where);

    const Operation end{Kind::heavy_end, 0, {}, -1, {}, where};
    reach(end);
    memory_.heavy_end(current_);
    trace(end, "");
    step_done();
}

/// One moment for every other thread, in any order. For a thread that has ended it does not matter
/// when.
void Explorer::heavy_moments(std::source_location where) {
    std::array<int, threads_max> left{};
    std::size_t count = 0;
    for (int other = 0; other < static_cast<int>(threads_.size()); ++other) {
        if (other != current_ && threads_[static_cast<std::size_t>(other)].done) {
            memory_.heavy_moment(current_, other);
        } else if (other != current_) {
            left[count++] = other;
        }
    }
    while (count > 0) {
        const std::size_t pick = choose(count);
        const int other = left[pick];
        left[pick] = left[--count];
        const Operation operation{Kind::heavy_moment, 0, {}, other, {}, where};
        reach(operation);
        memory_.heavy_moment(current_, other);
        trace(operation, thread_text(other));
        step_done();
    }
}

void Explorer::futex_wait(LocationId location, std::uint32_t expected, std::source_location where) {
    futex_wait_any({{location, expected}}, where);
}

/// The kernel compares one word after the other. Where it has compared already, it can be woken.
void Explorer::futex_wait_any(const std::vector<std::pair<LocationId, std::uint32_t>>& words,
                              std::source_location where) {
    if (current_ < 0) {
        return;
    }
    const auto own = static_cast<std::size_t>(current_);
    threads_[own].woken = false;
    bool sleeps = true;
    for (const auto& [location, expected] : words) {
        sleeps = sleeps && compares_equal(location, expected, where);
        if (sleeps) {
            threads_[own].sleeps_on.push_back(location);
        }
    }
    if (sleeps && !threads_[own].woken) {
        sleep_in_kernel(words.front().first, where);
    }
    threads_[own].sleeps_on.clear();
}

bool Explorer::compares_equal(LocationId location, std::uint32_t expected,
                              std::source_location where) {
    const Operation operation{Kind::futex_wait, location, {}, -1, {}, where};
    reach(operation);
    // The kernel compares with some value that is not older than what the last waker had seen.
    // Should it be an old one, then the store that replaced it has its wake-up still to come.
    const auto ids = candidates(current_);
    const StoreId from = choose_store(ids);
    const std::uint64_t value = memory_.store_at(location, from).value;
    memory_.observe(current_, location, from);
    const bool same = value == expected || options_.fault == Fault::no_futex_compare;
    const bool spurious = same && spurious_left_ > 0 && choose(2) == 1;
    spurious_left_ -= spurious ? 1 : 0;
    trace(operation, "compares " + value_text(value) +
                         (spurious ? ", woken for no reason"
                          : same   ? ", sleeps"
                                   : ", does not sleep"));
    step_done();
    return same && !spurious;
}

void Explorer::sleep_in_kernel(LocationId location, std::source_location where) {
    const Operation operation{Kind::asleep, location, {}, -1, {}, where};
    reach(operation);
    trace(operation, "wakes up");
    step_done();
}

std::vector<std::size_t> Explorer::sleepers_of(LocationId location) const {
    std::vector<std::size_t> sleepers;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        const Thread& it = threads_[i];
        if (!it.done && !it.woken &&
            std::ranges::find(it.sleeps_on, location) != it.sleeps_on.end()) {
            sleepers.push_back(i);
        }
    }
    return sleepers;
}

void Explorer::futex_move(LocationId location, LocationId other, std::source_location where) {
    if (current_ < 0) {
        return;
    }
    const Operation operation{Kind::futex_wake, location, {}, -1, {}, where};
    reach(operation);
    memory_.kernel_publish(current_, location);
    const std::vector<std::size_t> sleepers = sleepers_of(location);
    if (sleepers.empty()) {
        trace(operation, "moves nobody");
    } else {
        const std::size_t pick = sleepers[choose(sleepers.size())];
        threads_[pick].next.location = other;
        std::ranges::replace(threads_[pick].sleeps_on, location, other);
        trace(operation, "moves " + thread_text(static_cast<int>(pick)));
    }
    step_done();
}

void Explorer::futex_wake(LocationId location, int count, std::source_location where) {
    if (current_ < 0) {
        return;
    }
    const Operation operation{Kind::futex_wake, location, {}, -1, {}, where};
    reach(operation);
    memory_.kernel_publish(current_, location);
    std::vector<std::size_t> sleepers = sleepers_of(location);
    std::string woken = "wakes";
    for (int i = 0; i < count && !sleepers.empty(); ++i) {
        const std::size_t pick = choose(sleepers.size());
        threads_[sleepers[pick]].woken = true;
        woken += " " + thread_text(static_cast<int>(sleepers[pick]));
        sleepers.erase(sleepers.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    trace(operation, woken == "wakes" ? "wakes nobody" : woken);
    step_done();
}

void Explorer::note(const void* address, std::size_t count, bool is_write,
                    std::source_location where) {
    if (current_ < 0) {
        return;
    }
    Conflict other;
    const bool races =
        shadow_.access(address, count, is_write, current_, memory_.clock(current_), where, other);
    if (tracing_) {
        trace_.push_back(plain_text(steps_, current_, is_write, describe(address), count, where));
    }
    if (races) {
        fail("race: " + std::string(is_write ? "write" : "read") + " of " + describe(address) +
             " by " + thread_text(current_) + " at " + place_text(where) +
             " is not ordered after the " + (other.is_write ? "write" : "read") + " by " +
             thread_text(other.thread) + " at " + place_text(other.where));
    }
}

} // namespace corymb::verify

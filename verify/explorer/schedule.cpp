// SPDX-License-Identifier: Apache-2.0
// Who runs next.
#include "explorer/explorer.hpp"

#include <algorithm>

namespace corymb::verify {

namespace {

constexpr int nobody = -1;

std::size_t index_of(int thread) {
    return static_cast<std::size_t>(thread);
}

} // namespace

/// A scheduling point: returns when it is this thread's turn to do `operation`.
void Explorer::reach(const Operation& operation) {
    if (current_ == mortal_ && choose(2) == 1) {
        end_here();
    }
    threads_[index_of(current_)].next = operation;
    hand_over();
}

/// The current thread does nothing more.
void Explorer::end_here() {
    mortal_ = nobody;
    store(ended_, 1, std::memory_order_release, std::source_location::current());
    threads_[index_of(current_)].done = true;
    hand_over();
}

void Explorer::hand_over() {
    const int next = pick();
    if (next == nobody) {
        fibers_.leave();
    }
    current_ = next;
    fibers_.switch_to(next);
}

/// The operation has happened. Plain accesses that follow are later than what it published.
void Explorer::step_done() {
    ++memory_.clock(current_)[index_of(current_)];
}

std::vector<StoreId> Explorer::candidates(int thread) const {
    const Operation& next = threads_[index_of(thread)].next;
    if (next.kind == Kind::futex_wait) {
        return memory_.kernel_readable(thread, next.location);
    }
    const bool exclusive = next.kind == Kind::exchange;
    std::vector<StoreId> ids = memory_.readable(thread, next.location, next.order, exclusive);
    if (next.kind == Kind::await) {
        std::erase_if(ids, [&](StoreId id) {
            return !next.predicate(memory_.store_at(next.location, id).value);
        });
    }
    return ids;
}

bool Explorer::is_enabled(int thread) const {
    const Thread& it = threads_[index_of(thread)];
    if (it.done) {
        return false;
    }
    switch (it.next.kind) {
    case Kind::await: return !candidates(thread).empty();
    case Kind::asleep: return it.woken;
    default: return true;
    }
}

bool Explorer::is_awake(int thread) const {
    const Thread& it = threads_[index_of(thread)];
    if (!it.next.reads() || it.floor == 0) {
        return !it.sleeps;
    }
    const auto ids = candidates(thread);
    return std::any_of(ids.begin(), ids.end(), [&](StoreId id) { return id >= it.floor; });
}

int Explorer::pick_eager(const std::vector<int>& enabled) const {
    for (const int thread : enabled) {
        const Operation& next = threads_[index_of(thread)].next;
        if (next.kind == Kind::begin || (options_.reduced && next.is_eager())) {
            return thread;
        }
    }
    return nobody;
}

/// The next thread, or nobody: everybody is done, or the execution need not be followed further.
int Explorer::pick() {
    std::vector<int> enabled;
    bool all_done = true;
    for (int thread = 0; thread < static_cast<int>(threads_.size()); ++thread) {
        all_done = all_done && threads_[index_of(thread)].done;
        if (is_enabled(thread)) {
            enabled.push_back(thread);
        }
    }
    if (all_done || enabled.empty() || steps_ == options_.steps_max) {
        if (!all_done) {
            error_ = enabled.empty() ? deadlock_text() : "livelock? too many steps";
        }
        return nobody;
    }
    ++steps_;

    std::vector<int> allowed = enabled;
    const int eager = pick_eager(enabled);
    if (search_.is_replay()) {
        // Everything was decided before.
    } else if (eager != nobody) {
        allowed = {eager};
    } else if (options_.preemptions_max >= 0) {
        if (preferred_ != nobody && is_enabled(preferred_) &&
            preemptions_ >= options_.preemptions_max) {
            allowed = {preferred_};
        }
    } else if (search_.is_exhaustive()) {
        std::erase_if(allowed, [&](int thread) { return !is_awake(thread); });
        if (allowed.empty()) {
            pruned_ = true;
            return nobody;
        }
    }

    const int chosen = search_.choose_thread(allowed);
    if (chosen == nobody) {
        error_ = "the replay text does not fit this world";
        return nobody;
    }
    allowed.resize(search_.tried_before());
    put_to_sleep(allowed);
    wake_for(chosen);
    threads_[index_of(chosen)].sleeps = false;
    if (eager == nobody) {
        preemptions_ += preferred_ != nobody && chosen != preferred_ && is_enabled(preferred_);
        preferred_ = chosen;
    }
    return chosen;
}

void Explorer::put_to_sleep(const std::vector<int>& tried) {
    if (!options_.reduced || !search_.is_exhaustive() || options_.preemptions_max >= 0) {
        return;
    }
    for (const int thread : tried) {
        Thread& it = threads_[index_of(thread)];
        it.sleeps = true;
        it.floor = it.next.reads() ? memory_.store_count(it.next.location) : 0;
    }
}

/// `executed` is about to do its operation: wakes the sleepers that it does not commute with.
void Explorer::wake_for(int executed) {
    const Operation& operation = threads_[index_of(executed)].next;
    for (int thread = 0; thread < static_cast<int>(threads_.size()); ++thread) {
        Thread& it = threads_[index_of(thread)];
        if (thread != executed && !it.done && conflict(it.next, thread, operation, executed)) {
            it.sleeps = false;
            it.floor = 0;
        }
    }
}

std::size_t Explorer::choose(std::size_t count) {
    std::vector<std::size_t> all(count);
    for (std::size_t i = 0; i < count; ++i) {
        all[i] = i;
    }
    return search_.choose_option(all, count);
}

/// Which of `ids` the current thread reads: any, or those that it has not read at an earlier
/// branch of the search.
StoreId Explorer::choose_store(const std::vector<StoreId>& ids) {
    Thread& me = threads_[index_of(current_)];
    std::vector<std::size_t> allowed;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] >= me.floor) {
            allowed.push_back(i);
        }
    }
    me.floor = 0;
    me.sleeps = false;
    return ids[search_.choose_option(allowed, ids.size())];
}

std::string Explorer::deadlock_text() const {
    std::string text = "deadlock:";
    for (std::size_t i = 0; i < threads_.size(); ++i) {
        const Operation& next = threads_[i].next;
        if (threads_[i].done) {
            continue;
        }
        const std::string file = next.where.file_name();
        text += " " + std::string(1, static_cast<char>('a' + i));
        text += next.kind == Kind::asleep ? " sleeps on " : " waits for ";
        text += describe(next.location) + " at " + file.substr(file.rfind('/') + 1) + ":" +
                std::to_string(next.where.line()) + ";";
    }
    text.pop_back();
    return text;
}

} // namespace corymb::verify

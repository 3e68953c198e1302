// SPDX-License-Identifier: Apache-2.0
// What people write by hand: two plain lines, the floor; two rings of items, as a sharded engine
// has them; a queue with a mutex.
#include "caller.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace corymb::bench {
namespace {

// Amounts of work that are none.
constexpr std::uint64_t stop = ~std::uint64_t{0};
constexpr std::uint64_t echo = stop - 1;
using Bytes64 = std::array<char, 64>;

/// Waits awake; gives the CPU away now and then, for who shares it.
template <class IsSo>
void until(const IsSo& is_so) {
    for (int tries = 1; !is_so(); ++tries) {
        if (tries % 1024 == 0) {
            std::this_thread::yield();
        }
    }
}

/// Steps in which both threads do so much work: begin() has the other one do it, await() waits.
template <class Begin, class Await>
double time_steps(std::uint64_t amount, Clock::duration budget, const Begin& begin,
                  const Await& await) {
    Repetition all = steps_of(amount, budget);
    do {
        begin();
        work(amount);
        await();
    } while (!all.is_over());
    return all.ns_each();
}

/// A word there and a word back, and bytes with both if they are asked for.
class Lines final : public Caller {
public:
    Lines() {
        server_ = std::jthread([this] { serve(); });
        bind_end(0);
    }
    ~Lines() override { ask(stop); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    double time(CallOp op, Clock::duration budget) override {
        Repetition all(budget);
        Bytes64 bytes{};
        const bool has_bytes = op == CallOp::bytes64;
        do {
            if (has_bytes) {
                there_.bytes = bytes;
            }
            ask(has_bytes ? echo : 0);
            await();
            if (has_bytes) {
                bytes = back_.bytes;
                bytes[0] = static_cast<char>(bytes[0] + 1); // Waits for them.
            }
        } while (!all.is_over());
        return all.ns_each();
    }
    double time_step(std::uint64_t amount, Clock::duration budget) override {
        return time_steps(amount, budget, [&] { ask(amount); }, [this] { await(); });
    }

private:
    struct alignas(128) Line {
        std::atomic<std::uint64_t> number{0};
        std::uint64_t amount = 0;
        Bytes64 bytes{};
    };
    void ask(std::uint64_t amount) {
        there_.amount = amount;
        there_.number.store(++number_, std::memory_order_release);
    }
    void await() {
        until([this] { return back_.number.load(std::memory_order_acquire) == number_; });
    }
    void serve() {
        bind_end(1);
        for (std::uint64_t number = 1;; ++number) {
            until([&] { return there_.number.load(std::memory_order_acquire) == number; });
            if (there_.amount == stop) {
                return;
            }
            if (there_.amount == echo) {
                back_.bytes = there_.bytes;
            } else {
                work(there_.amount);
            }
            back_.number.store(number, std::memory_order_release);
        }
    }
    Line there_, back_;
    std::uint64_t number_ = 0;
    std::jthread server_;
};

/// A message between shards: what to run there, and where its answer goes.
struct Item {
    void (*run)(Item&) = nullptr;
    std::uint64_t amount = 0;
    bool is_done = false; ///< Caller's.
};

void do_nothing(Item& /*item*/) {}
void do_work(Item& item) {
    work(item.amount);
}

constexpr std::size_t capacity = 128;

/// One writer, one reader.
class ItemRing {
public:
    bool push(Item* item) noexcept {
        const std::uint64_t at = written_.load(std::memory_order_relaxed);
        if (at - seen_read_ == items_.size()) {
            seen_read_ = read_.load(std::memory_order_acquire);
            if (at - seen_read_ == items_.size()) {
                return false;
            }
        }
        items_.at(at % items_.size()) = item;
        written_.store(at + 1, std::memory_order_release);
        return true;
    }
    Item* pop() noexcept {
        const std::uint64_t at = read_.load(std::memory_order_relaxed);
        if (at == written_.load(std::memory_order_acquire)) {
            return nullptr;
        }
        Item* const item = items_.at(at % items_.size());
        read_.store(at + 1, std::memory_order_release);
        return item;
    }

private:
    std::array<Item*, capacity> items_{};
    alignas(128) std::atomic<std::uint64_t> written_{0};
    std::uint64_t seen_read_ = 0; ///< The writer's.
    alignas(128) std::atomic<std::uint64_t> read_{0};
};

/// A shard's queue in each direction: items go there, and come back when they have run.
class Shards final : public Caller {
public:
    Shards() {
        server_ = std::jthread([this](const std::stop_token& token) { serve(token); });
        bind_end(0);
    }
    double time(CallOp op, Clock::duration budget) override {
        Repetition all(budget);
        Item item;
        std::vector<Item> many(3 * capacity); // More than can be under way.
        std::size_t next = 0;
        do {
            if (op == CallOp::one_way) {
                Item& one = many[next++ % many.size()];
                one.run = do_nothing;
                until([&] { return take_back() || there_.push(&one); });
            } else {
                call(item, do_nothing, 0);
            }
        } while (!all.is_over());
        call(item, do_nothing, 0); // Behind all others.
        return all.ns_each();
    }
    double time_step(std::uint64_t amount, Clock::duration budget) override {
        Item item;
        return time_steps(
            amount, budget, [&] { submit(item, do_work, amount); }, [&] { await(item); });
    }

private:
    void submit(Item& item, void (*run)(Item&), std::uint64_t amount) {
        item.run = run;
        item.amount = amount;
        item.is_done = false;
        until([&] { return there_.push(&item); });
    }
    /// Whether there is room again; answers that come meanwhile are taken.
    bool take_back() {
        while (Item* const item = back_.pop()) {
            item->is_done = true;
        }
        return false;
    }
    void await(Item& item) {
        until([&] {
            take_back();
            return item.is_done;
        });
    }
    void call(Item& item, void (*run)(Item&), std::uint64_t amount) {
        submit(item, run, amount);
        await(item);
    }
    void serve(const std::stop_token& token) {
        bind_end(1);
        until([&] {
            while (Item* const item = there_.pop()) {
                item->run(*item);
                until([&] { return back_.push(item); });
            }
            return token.stop_requested();
        });
    }
    ItemRing there_, back_;
    std::jthread server_;
};

/// A pool of one thread: a queue of functions with a mutex, and an answer with another.
class Pool final : public Caller {
public:
    Pool() {
        server_ = std::jthread([this] { serve(); });
        bind_end(0);
    }
    ~Pool() override {
        submit([this] { is_over_ = true; });
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    double time(CallOp op, Clock::duration budget) override {
        Repetition all(budget);
        do {
            if (op == CallOp::one_way) {
                submit([] {});
            } else {
                begin(0);
                await();
            }
        } while (!all.is_over());
        begin(0); // Behind all others.
        await();
        return all.ns_each();
    }
    double time_step(std::uint64_t amount, Clock::duration budget) override {
        return time_steps(amount, budget, [&] { begin(amount); }, [this] { await(); });
    }

private:
    void submit(std::function<void()> what) {
        {
            const std::lock_guard lock(mutex_);
            queue_.push_back(std::move(what));
        }
        changed_.notify_one();
    }
    void begin(std::uint64_t amount) {
        is_done_ = false;
        submit([this, amount] {
            work(amount);
            {
                const std::lock_guard lock(answer_mutex_);
                is_done_ = true;
            }
            answered_.notify_one();
        });
    }
    void await() {
        std::unique_lock lock(answer_mutex_);
        answered_.wait(lock, [this] { return is_done_; });
    }
    void serve() {
        bind_end(1);
        while (!is_over_) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !queue_.empty(); });
            const std::function<void()> what = std::move(queue_.front());
            queue_.pop_front();
            lock.unlock();
            what();
        }
    }
    std::mutex mutex_, answer_mutex_;
    std::condition_variable changed_, answered_;
    std::deque<std::function<void()>> queue_;
    bool is_done_ = false;
    bool is_over_ = false; ///< The server's.
    std::jthread server_;
};

} // namespace

std::vector<CallContestant> plain_callers() {
    using enum CallOp;
    return {
        {"two plain lines", "floor", {empty, bytes64, half, most}, std::make_unique<Lines>},
        {"rings of items by hand", "peer", {empty, one_way, half, most}, std::make_unique<Shards>},
        {"queue with a mutex", "peer", {empty, one_way, half, most}, std::make_unique<Pool>}};
}

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
// Runs a small concurrent program ("world") in every way that the memory model allows, or in many
// random ones, and says how it went wrong if it did.
//
// Every atomic operation is a scheduling point; plain memory is only checked for races. Executions
// that differ only in the order of commuting operations are the same; most of them are not tried:
//   - plain stores are done at once (operation.hpp says why);
//   - sleep sets (Godefroid, LNCS 1032): a thread whose next operation was explored at a node
//     sleeps in that node's later branches until something happens that does not commute with it;
//   - a reading operation that sleeps wakes only for stores that came since, and then reads only
//     those: it has read the older ones already.
// A blocked await or futex sleeper is not schedulable, so there are no spinning states, and a lost
// wake-up is a deadlock: a time limit never expires here.
#pragma once

#include "explorer/fibers.hpp"
#include "explorer/memory.hpp"
#include "explorer/operation.hpp"
#include "explorer/search.hpp"
#include "explorer/shadow.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace corymb::verify {

/// A deliberate weakening of what the headers ask for. A world is believed only when the explorer
/// rejects it under the faults that matter to it.
enum class Fault : std::uint8_t {
    none,
    release_is_relaxed,
    acquire_is_relaxed,
    no_light_fence,
    no_heavy_fence,
    no_full_fence,
    no_futex_compare, ///< futex_wait sleeps whatever the word holds.
};

struct Options {
    std::uint64_t executions_max = 5'000'000;
    std::uint64_t steps_max = 5'000; ///< Of one execution; more is reported as a livelock.
    int preemptions_max = -1;        ///< Negative: no bound. With a bound there are no sleep sets.
    bool reduced = true;             ///< False: every interleaving, to check the reduction itself.
    bool random = false;             ///< executions_max random walks instead of all.
    std::uint64_t seed = 1;
    int spurious_wakeups = 0; ///< How many futex_wait of one execution may return for no reason.
    Fault fault = Fault::none;
};

struct Result {
    bool violated = false;
    bool complete = false; ///< Everything within the bounds was explored.
    std::uint64_t executions = 0;
    std::uint64_t pruned = 0; ///< Of these, stopped because they only repeated others.
    std::uint64_t steps = 0;
    std::string error;
    std::vector<std::string> trace; ///< One line a step of the failing execution.
    std::string replay;             ///< To be given to `replay`.
};

/// One fresh instance of a world, for one execution.
class Instance {
public:
    Instance() = default;
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;
    virtual ~Instance() = default;
    virtual void run(int thread) = 0;
    virtual void finish() {} ///< After all threads; for `require` on the end state.
};

struct Program {
    int threads = 2; ///< At most threads_max.
    std::function<std::unique_ptr<Instance>()> make;
};

class Explorer {
public:
    Result explore(const Program& program, const Options& options);
    /// Runs the one execution that `text` names.
    Result replay(const Program& program, const Options& options, std::string_view text);

    /// The explorer at work. One at a time, on one thread.
    static Explorer& current() noexcept;

    // For worlds.
    void require(bool holds, const char* what, std::source_location where);
    /// An assertion of the header under test does not hold.
    [[noreturn]] void assertion_failed(const char* invariant, const char* file, int line);
    void name(const void* address, std::size_t bytes, const char* text);
    [[nodiscard]] int thread() const noexcept { return current_; }
    /// From a world's constructor: `thread` may end before any of its operations, as a process that
    /// is killed. Then `ended` becomes 1, after everything that it has done.
    void let_end(int thread, LocationId ended) noexcept {
        mortal_ = thread;
        ended_ = ended;
    }

    // For the Env.
    LocationId add_location(const void* address, std::uint64_t value);
    [[nodiscard]] std::uint64_t newest(LocationId location) const {
        return memory_.newest(location);
    }
    std::uint64_t load(LocationId location, std::memory_order order, std::source_location where);
    std::uint64_t await(LocationId location, std::memory_order order, Predicate predicate,
                        std::source_location where);
    void store(LocationId location, std::uint64_t value, std::memory_order order,
               std::source_location where);
    template <class F>
    std::uint64_t modify(LocationId location, std::memory_order order, F&& change,
                         std::source_location where) {
        const std::uint64_t old = modify_read(location, order, where);
        modify_write(location, change(old), order);
        return old;
    }
    void fence(std::memory_order order, std::source_location where);
    void full_fence(std::source_location where);
    void light_fence(std::source_location where);
    void heavy_fence(std::source_location where);
    void futex_wait(LocationId location, std::uint32_t expected, std::source_location where);
    /// Words and what they are expected to hold.
    void futex_wait_any(const std::vector<std::pair<LocationId, std::uint32_t>>& words,
                        std::source_location where);
    void futex_wake(LocationId location, int count, std::source_location where);
    void futex_move(LocationId location, LocationId other, std::source_location where);
    void note(const void* address, std::size_t count, bool is_write, std::source_location where);

private:
    struct Thread {
        Operation next{};
        bool done = false;
        bool woken = false;
        std::vector<LocationId> sleeps_on; ///< Words of the kernel's sleep that begins or goes on.
        bool sleeps = false;               ///< In the sleep set, for operations that do not read.
        StoreId floor = 0; ///< In the sleep set, for those that do: has read older ones.
    };
    struct Named {
        const std::byte* address;
        std::size_t bytes;
        const char* text;
    };

    void run_execution(const Program& program);
    void run_thread(int index);
    Result finish_failed(const Program& program, Result result);

    // Scheduling (schedule.cpp).
    void reach(const Operation& operation);
    void end_here();
    void hand_over();
    int pick();
    int pick_eager(const std::vector<int>& enabled) const;
    [[nodiscard]] bool is_enabled(int thread) const;
    [[nodiscard]] bool is_awake(int thread) const;
    void put_to_sleep(const std::vector<int>& tried);
    void wake_for(int executed);
    [[nodiscard]] std::vector<StoreId> candidates(int thread) const;
    StoreId choose_store(const std::vector<StoreId>& ids);
    std::size_t choose(std::size_t count);
    void step_done();

    std::uint64_t modify_read(LocationId location, std::memory_order order,
                              std::source_location where);
    void modify_write(LocationId location, std::uint64_t value, std::memory_order order);
    void heavy_moments(std::source_location where);
    [[nodiscard]] std::vector<std::size_t> sleepers_of(LocationId location) const;
    bool compares_equal(LocationId location, std::uint32_t expected, std::source_location where);
    void sleep_in_kernel(LocationId location, std::source_location where);
    [[nodiscard]] std::memory_order weakened(std::memory_order order) const noexcept;

    void fail(std::string text);
    void trace(const Operation& operation, const std::string& outcome);
    [[nodiscard]] std::string describe(LocationId location) const;
    [[nodiscard]] std::string describe(const void* address) const;
    [[nodiscard]] std::string deadlock_text() const;

    Options options_;
    Search search_;
    Memory memory_;
    Shadow shadow_;
    Fibers fibers_;
    std::vector<Thread> threads_;
    Instance* instance_ = nullptr;
    int current_ = -1; ///< Running fiber; -1 outside of an execution.
    std::uint64_t steps_ = 0;
    int preemptions_ = 0;
    int preferred_ = -1; ///< Whose turn it is; leaving it while it could go on is a preemption.
    int spurious_left_ = 0;
    StoreId last_read_ = 0;
    int mortal_ = -1;      ///< Who may end anywhere, and has not.
    LocationId ended_ = 0; ///< Tells the others.
    bool pruned_ = false;
    bool tracing_ = false;
    std::string error_;
    std::vector<std::string> trace_;
    std::vector<const std::byte*> addresses_; ///< Of every location.
    std::vector<Named> names_;
};

/// In a world: a broken expectation is a violation.
inline void require(bool holds, const char* what,
                    std::source_location where = std::source_location::current()) {
    Explorer::current().require(holds, what, where);
}

/// A type with `static constexpr int threads`, `void run(int)` and, optionally, `void finish()`.
template <class World>
Program program_of() {
    struct Adapter final : Instance {
        World world;
        void run(int thread) override { world.run(thread); }
        void finish() override {
            if constexpr (requires { world.finish(); }) {
                world.finish();
            }
        }
    };
    return {World::threads, [] {
                return std::make_unique<Adapter>();
            }};
}

template <class World>
Result explore(const Options& options = {}) {
    return Explorer{}.explore(program_of<World>(), options);
}

} // namespace corymb::verify

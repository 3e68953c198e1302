// SPDX-License-Identifier: Apache-2.0
// src/remote/replica.hpp: all replicas apply all operations in one order, an instance that is read
// is not written, a rank sees its own updates, and the end of a rank at any step holds up nobody.
#include "channel/look_once.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"
#include "remote/replica.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace {

using namespace corymb::verify;
using corymb::Rank;
using corymb::remote::Combined;
using Log = corymb::remote::OperationLog<ExplorerEnv>;
using Shared = corymb::remote::ReplicaShared<ExplorerEnv>;
using End = corymb::remote::ReplicaEnd<ExplorerEnv>;
using Flag = ExplorerEnv::Atomic<std::uint32_t>;

/// The number of a thread as a rank: no state of a mark, so that words are told apart.
constexpr Rank rank_of_thread(int thread) {
    return 100 + thread;
}

/// An operation: a digit, and bytes that make its entry in the log 24 long, so that something is
/// left at the end of the ring.
constexpr std::size_t operation_bytes = 16;

enum class Bug : std::uint8_t { none, does_not_copy, reads_without_a_mark };

/// Who may end, and whether it has.
struct Fate {
    int mortal = -1;
    const void* mark = nullptr; ///< The mortal one's.
    Flag ended;                 ///< 1 then; 2 when it came through.

    [[nodiscard]] bool is_dead(Rank rank) const {
        return mortal >= 0 && rank == rank_of_thread(mortal) &&
               ended.load(std::memory_order_acquire) == 1;
    }
};

/// Gives up waiting for the mortal one once it has ended.
struct FateWaiter {
    Fate* fate;

    template <class A, class P, class T>
    bool await(const A& word, std::memory_order order, const P& holds, T& seen) {
        seen = word.load(order);
        if (holds(seen)) {
            return true;
        }
        if (fate->mortal >= 0 && Explorer::current().thread() != fate->mortal) {
            const std::uint32_t end = fate->ended.await(
                std::memory_order_acquire, [](std::uint32_t value) { return value != 0; });
            if (end == 1) {
                if (&word == fate->mark) {
                    seen = word.load(order);
                    return holds(seen);
                }
                const auto key = static_cast<std::uint64_t>(rank_of_thread(fate->mortal)) + 1;
                seen = word.await(order, [&](T value) { return holds(value) || value == key; });
                return holds(seen);
            }
        }
        seen = word.await(order, holds);
        return true;
    }
};

/// A decimal number: an operation appends a digit.
template <Bug bug>
struct Number {
    Fate* fate;
    int first;                ///< Thread of the first member.
    std::uint64_t value[2]{}; ///< By instance.
    Flag middle;
    Log* left_by = nullptr; ///< Its ranks may leave, one in each replica. Null: they do not.

    void apply(std::size_t instance, const std::byte* operation, std::size_t bytes,
               std::byte* outcome) {
        require(bytes == operation_bytes, "the operation is whole");
        std::uint64_t digit = 0;
        std::memcpy(&digit, operation, sizeof digit);
        ExplorerEnv::note_write(&value[instance], sizeof value[instance]);
        const std::uint64_t after = value[instance] * 10 + digit;
        value[instance] = 999'999;
        static_cast<void>(middle.load(std::memory_order_relaxed)); // It may end here.
        value[instance] = after;
        if (outcome != nullptr) {
            std::memcpy(outcome, &after, sizeof after);
        }
    }
    void copy(std::size_t from, std::size_t to) {
        if (bug == Bug::does_not_copy) {
            return;
        }
        ExplorerEnv::note_read(&value[from], sizeof value[from]);
        ExplorerEnv::note_write(&value[to], sizeof value[to]);
        value[to] = 999'999;
        static_cast<void>(middle.load(std::memory_order_relaxed));
        value[to] = value[from];
    }
    [[nodiscard]] Rank rank_of(std::size_t member) const {
        return rank_of_thread(first + static_cast<int>(member));
    }
    [[nodiscard]] bool is_dead(Rank rank) const { return fate->is_dead(rank); }
    [[nodiscard]] bool is_abandoned(std::size_t replica) const {
        return left_by != nullptr && !left_by->is_open(replica);
    }
};

/// `Replicas` replicas, each with `Members` threads as members. An operation takes 24 bytes in the
/// log.
template <std::size_t Replicas, std::size_t Members, std::size_t log_bytes = 128,
          Bug bug = Bug::none>
struct Group {
    static constexpr std::size_t ranks = Replicas * Members;
    alignas(128) std::byte log_memory[Log::bytes(Replicas, ranks, log_bytes)]{};
    alignas(128) std::byte memory[Replicas][Shared::bytes(Members, operation_bytes)]{};
    Log& log = *new (log_memory) Log(Replicas, ranks, log_bytes);
    std::array<Shared*, Replicas> shared{};
    Fate fate;
    std::array<Number<bug>, Replicas> number{};
    std::array<std::unique_ptr<End>, ranks> end;

    explicit Group(int mortal = -1) {
        for (std::size_t r = 0; r < Replicas; ++r) {
            shared[r] = new (memory[r]) Shared(Members, operation_bytes, log.begin());
            number[r].fate = &fate;
            number[r].first = static_cast<int>(r * Members);
            for (std::size_t m = 0; m < Members; ++m) {
                const std::size_t thread = r * Members + m;
                log.open(thread);
                end[thread] = std::make_unique<End>(log, *shared[r], r, m,
                                                    rank_of_thread(static_cast<int>(thread)));
            }
        }
        if (mortal >= 0) {
            const auto thread = static_cast<std::size_t>(mortal);
            fate.mortal = mortal;
            fate.mark = &shared[thread / Members]->slot(thread % Members).mark.word;
            Explorer::current().let_end(mortal, fate.ended.location());
        }
    }
    Combined combine(int thread) {
        FateWaiter waiter{&fate};
        const auto t = static_cast<std::size_t>(thread);
        return end[t]->combine(waiter, number[t / Members]);
    }
    void ask(int thread, std::uint64_t digit) {
        End& own = *end[static_cast<std::size_t>(thread)];
        ExplorerEnv::note_write(own.operation(), operation_bytes);
        std::memcpy(own.operation(), &digit, sizeof digit);
        own.ask(operation_bytes);
    }
    /// Gives what the number is then.
    std::uint64_t update(int thread, std::uint64_t digit) {
        End& own = *end[static_cast<std::size_t>(thread)];
        ask(thread, digit);
        while (!own.is_done()) {
            if (combine(thread) == Combined::full) {
                await_progress();
            }
        }
        return use(own.outcome());
    }
    static std::uint64_t use(const std::byte* outcome) {
        std::uint64_t value = 0;
        std::memcpy(&value, outcome, sizeof value);
        return value;
    }
    /// Another replica is behind.
    void await_progress() {
        if constexpr (Replicas > 1) {
            const std::uint64_t before = log.progress(1).load(std::memory_order_relaxed);
            static_cast<void>(
                log.progress(1).await(std::memory_order_relaxed, [&](std::uint64_t now) {
                    return now != before || now == log.tail.word.peek();
                }));
        }
    }
    std::uint64_t read(int thread) {
        const auto t = static_cast<std::size_t>(thread);
        const std::size_t instance =
            bug == Bug::reads_without_a_mark
                ? shared[t / Members]->visible.word.load(std::memory_order_acquire) & 1U
                : end[t]->enter();
        const std::uint64_t& value = number[t / Members].value[instance];
        ExplorerEnv::note_read(&value, sizeof value);
        const std::uint64_t seen = value;
        if (bug != Bug::reads_without_a_mark) {
            end[t]->leave();
        }
        return seen;
    }
    /// As a read that tries to be up to date.
    std::uint64_t read_newest(int thread) {
        const auto t = static_cast<std::size_t>(thread);
        if (end[t]->is_behind()) {
            corymb::channel::LookOnce once;
            static_cast<void>(end[t]->combine(once, number[t / Members]));
        }
        return read(thread);
    }
    void await_end() {
        static_cast<void>(fate.ended.await(std::memory_order_acquire,
                                           [](std::uint32_t value) { return value != 0; }));
    }
    void come_through() { fate.ended.store(2, std::memory_order_release); }
    /// What the replica shows in the end.
    std::uint64_t shown(std::size_t replica) {
        return number[replica].value[shared[replica]->visible.word.peek() & 1U];
    }
};

bool is_one_of(std::uint64_t value, std::initializer_list<std::uint64_t> all) {
    for (const std::uint64_t one : all) {
        if (value == one) {
            return true;
        }
    }
    return false;
}

/// One updates, the other member reads.
template <Bug bug = Bug::none>
struct OneReads : Group<1, 2, 128, bug> {
    static constexpr int threads = 2;
    void run(int thread) {
        if (thread == 0) {
            require(this->update(0, 1) == 1, "the outcome");
            require(this->update(0, 2) == 12, "the outcome");
            require(this->read(0) == 12, "its own update is seen");
        } else {
            const std::uint64_t first = this->read(1);
            const std::uint64_t second = this->read_newest(1);
            require(is_one_of(first, {0, 1, 12}) && is_one_of(second, {0, 1, 12}), "whole");
            require(first <= second, "in order");
        }
    }
    void finish() { require(this->shown(0) == 12, "all of it"); }
};

/// Both members of one replica update: one of them may do the work of both.
struct BothUpdate : Group<1, 2> {
    static constexpr int threads = 2;
    void run(int thread) {
        const auto digit = static_cast<std::uint64_t>(thread + 1);
        const std::uint64_t came = update(thread, digit);
        require(is_one_of(came, {digit, 12, 21}) && came % 10 == digit, "the outcome");
        require(is_one_of(read(thread), {digit, 12, 21}), "its own update is seen");
    }
    void finish() { require(is_one_of(shown(0), {12, 21}), "both"); }
};

/// Each of two replicas has a member that updates.
struct TwoReplicas : Group<2, 1> {
    static constexpr int threads = 2;
    std::uint64_t seen[2]{};
    std::uint64_t came[2]{};
    void run(int thread) {
        came[thread] = update(thread, static_cast<std::uint64_t>(thread + 1));
        seen[thread] = read(thread);
    }
    void finish() {
        const bool is_first = is_one_of(came[0], {1}) && came[1] == 12;
        require(is_first || (came[1] == 2 && came[0] == 21), "one order");
        require(is_one_of(seen[0], {came[0], came[0] * 10 + 2}), "its own update is seen");
        require(is_one_of(seen[1], {came[1], came[1] * 10 + 1}), "its own update is seen");
    }
};

/// The log has room for two operations, and skips what is left behind them. The other replica may
/// be behind.
template <int count>
struct FullLog : Group<2, 1, 64> {
    static constexpr int threads = 2;
    void run(int thread) {
        if (thread == 0) {
            std::uint64_t all = 0;
            for (std::uint64_t digit = 1; digit <= count; ++digit) {
                all = all * 10 + digit;
                require(update(0, digit) == all, "the outcome");
            }
        } else {
            const std::uint64_t all = count == 3 ? 123 : 1234;
            std::uint64_t before = 0;
            while (before != all) {
                const Log& mine = log;
                static_cast<void>(
                    mine.tail.word.await(std::memory_order_relaxed, [this](std::uint64_t tail) {
                        return tail != log.progress(1).peek();
                    }));
                static_cast<void>(combine(1));
                static_cast<void>(combine(1)); // For the instance that was visible.
                const std::uint64_t now = read(1);
                require(is_one_of(now, {0, 1, 12, 123, 1234}) && before <= now, "in order");
                before = now;
            }
        }
    }
};

/// The log has room for two operations, and the other replica applies what it finds and leaves.
struct OtherReplicaLeaves : Group<2, 1, 64> {
    static constexpr int threads = 2;
    OtherReplicaLeaves() { number[0].left_by = &log; }
    void run(int thread) {
        if (thread == 1) {
            static_cast<void>(combine(1));
            log.close(1);
            return;
        }
        for (std::uint64_t digit = 1; digit <= 3; ++digit) {
            ask(0, digit);
            while (!end[0]->is_done()) {
                if (combine(0) == Combined::full) {
                    const auto has_left = [](std::uint32_t is_open) {
                        return is_open == 0;
                    };
                    static_cast<void>(log.flag(1).await(std::memory_order_relaxed, has_left));
                }
            }
        }
        require(read(0) == 123, "all of it");
    }
};

/// The last of two members that have the replica open ends the instances.
struct LastOneEnds : Group<1, 2> {
    static constexpr int threads = 2;
    LastOneEnds() { shared[0]->open(); }
    void run(int thread) {
        static_cast<void>(read(thread));
        if (shared[0]->close()) {
            ExplorerEnv::note_write(number[0].value, sizeof number[0].value);
        }
    }
};

/// A reader may end at any step.
struct ReaderEnds : Group<1, 2> {
    static constexpr int threads = 2;
    ReaderEnds() : Group(1) {}
    void run(int thread) {
        if (thread == 1) {
            static_cast<void>(read(1));
            come_through();
        } else {
            for (std::uint64_t digit = 1; digit <= 3; ++digit) {
                static_cast<void>(update(0, digit));
            }
            require(read(0) == 123, "all of it");
        }
    }
};

/// A member may end at any step of its update; another one of the same replica updates, too.
template <Bug bug = Bug::none>
struct CombinerEnds : Group<1, 2, 128, bug> {
    static constexpr int threads = 2;
    CombinerEnds() : Group<1, 2, 128, bug>(1) {}
    void run(int thread) {
        if (thread == 1) {
            static_cast<void>(this->update(1, 1));
            this->come_through();
        } else {
            require(is_one_of(this->update(0, 2), {2, 12}), "the outcome");
            this->await_end();
            for (int turn = 0; turn < 3; ++turn) { // Repair, append, and the other instance.
                require(this->combine(0) == Combined::done, "nobody else combines");
            }
            const auto& value = this->number[0].value;
            require(value[0] == value[1], "both instances have all of it");
            require(is_one_of(value[0], {2, 12, 21}), "once, or not at all");
        }
    }
};

/// A member ends; another one reads while a third one tries to repair what it has left, in vain at
/// first.
struct RepairIsHeldUp : Group<1, 3> {
    static constexpr int threads = 3;
    RepairIsHeldUp() : Group(2) {}
    void run(int thread) {
        if (thread == 2) {
            static_cast<void>(update(2, 1));
            come_through();
            return;
        }
        await_end();
        if (thread == 1) {
            require(is_one_of(read(1), {0, 1}), "whole");
            return;
        }
        corymb::channel::LookOnce once;
        static_cast<void>(end[0]->combine(once, number[0]));
        for (int turn = 0; turn < 3; ++turn) {
            require(combine(0) == Combined::done, "nobody else combines");
        }
        require(number[0].value[0] == number[0].value[1], "both instances have all of it");
        require(is_one_of(read(0), {0, 1}), "once, or not at all");
    }
};

/// A member ends, and the other one reads while it does.
struct CombinerEndsForAReader : Group<1, 2> {
    static constexpr int threads = 2;
    CombinerEndsForAReader() : Group(1) {}
    void run(int thread) {
        if (thread == 1) {
            static_cast<void>(update(1, 1));
            static_cast<void>(update(1, 2));
            come_through();
        } else {
            const std::uint64_t seen = read_newest(0);
            require(is_one_of(seen, {0, 1, 12}), "whole");
            const std::uint64_t came = update(0, 3);
            require(is_one_of(came, {3, 13, 123}) && came / 10 >= seen, "in order");
        }
    }
};

/// A member may end at any step of its update; another replica goes on, and sees the same.
struct CombinerOfAnotherEnds : Group<2, 1> {
    static constexpr int threads = 2;
    CombinerOfAnotherEnds() : Group(1) {}
    void run(int thread) {
        if (thread == 1) {
            static_cast<void>(update(1, 1));
            come_through();
        } else {
            const std::uint64_t came = update(0, 2);
            require(is_one_of(came, {2, 12}), "the outcome");
            require(is_one_of(read(0), {came, 21}), "its own update is seen");
        }
    }
};

/// All three members of a replica update, and one of them may end.
template <int mortal>
struct OneOfThreeEnds : Group<1, 3> {
    static constexpr int threads = 3;
    OneOfThreeEnds() : Group(mortal) {}
    void run(int thread) {
        const std::uint64_t digit = static_cast<std::uint64_t>(thread) + 1;
        const std::uint64_t came = update(thread, digit);
        require(came % 10 == digit && came < 1000, "the outcome");
        if (thread == mortal) {
            come_through();
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<OneReads<>>("replica: one updates twice, one reads twice"),
            holds<BothUpdate>("replica: both members update"),
            holds<TwoReplicas>("replicas: a member of each updates"),
            holds<FullLog<3>>("replicas: 3 operations through a log of 2"),
            holds<OtherReplicaLeaves>("replicas: 3 operations, the other replica leaves"),
            holds<LastOneEnds>("replica: the last one ends it"),
            holds<ReaderEnds>("replica: a reader ends"),
            holds<CombinerEnds<>>("replica: a member that updates ends"),
            holds<RepairIsHeldUp>("replica: a member ends, its repair is held up"),
            holds_large<CombinerEndsForAReader>("replica: a member ends, the other reads",
                                                {.executions_max = 20'000, .random = true}),
            holds<CombinerOfAnotherEnds>("replicas: a member of another one ends"),
            holds_large<OneOfThreeEnds<2>>("replica: one of three ends",
                                           {.executions_max = 20'000, .random = true}),
            caught<OneReads<>>("replica: release is relaxed", Fault::release_is_relaxed),
            caught<OneReads<>>("replica: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<OneReads<>>("replica: no full fence", Fault::no_full_fence),
            caught<OneReads<Bug::reads_without_a_mark>>("replica: reads without a mark"),
            caught<CombinerEnds<Bug::does_not_copy>>("replica: does not copy after an end"),
        });
}

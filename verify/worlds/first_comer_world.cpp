// SPDX-License-Identifier: Apache-2.0
// src/channel/first_comer.hpp: all ranks end a term at one call, know then what all have told, and
// nobody writes over facts that another rank may still read.
#include "channel/first_comer.hpp"
#include "explorer/env.hpp"
#include "explorer/run_worlds.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace {

using namespace corymb::verify;
using Shared = corymb::channel::FirstComer<ExplorerEnv, 1>;
using End = corymb::channel::FirstComerEnd<ExplorerEnv, 1>;

enum class Bug : std::uint8_t { none, ends_alone, tells_early };

/// Ranks make their calls in any order, or in turns: few executions then have many terms.
enum class Order : std::uint8_t { any, in_turns };

/// Ranks that each make `Calls` calls. In each term rank 0 tells before its first call, the others
/// before their second. If `TakesBack`, calls of rank 0 are none at first, and are made again.
template <int Ranks, std::uint64_t Calls, bool TakesBack = false, Bug bug = Bug::none,
          Order order = Order::any>
struct Terms {
    static constexpr int threads = Ranks;
    static constexpr auto ranks = static_cast<std::size_t>(Ranks);
    Shared shared;
    Shared::Facts facts[2 * ranks];
    ExplorerEnv::Atomic<std::uint64_t> made[ranks]; ///< Calls that a rank has made.
    /// In which call a rank has found the end of a term; each rank writes its own row.
    std::uint64_t ends_at[ranks][Calls + 1] = {};

    Terms() { Explorer::current().name(&shared, sizeof shared, "terms"); }

    static std::uint64_t fact_of(std::size_t rank, std::uint64_t term) {
        return 100 * (rank + 1) + term;
    }

    void run(int thread) {
        const auto rank = static_cast<std::size_t>(thread);
        End end(shared, facts, rank, ranks);
        std::uint64_t term = 0;
        std::uint64_t waits = 0;
        for (std::uint64_t call = 0; call < Calls; ++call) {
            if constexpr (order == Order::in_turns) {
                const std::uint64_t others = rank == 0 ? call : call + 1;
                made[(rank + ranks - 1) % ranks].await(
                    std::memory_order_acquire,
                    [others](std::uint64_t calls) { return calls >= others; });
            }
            if (!end.has_told() && (rank == 0 || waits > 0)) {
                end.tell({fact_of(rank, term)});
                if (bug == Bug::tells_early && rank == 1) {
                    end.tell({fact_of(rank, term)});
                }
            }
            bool is_end = end.ends();
            if (TakesBack && rank == 0 && !is_end) {
                end.take_back();
                require(!end.ends(), "a call that is made again is decided");
            }
            is_end = is_end || (bug == Bug::ends_alone && rank == 0 && end.has_told());
            ++waits;
            if constexpr (order == Order::in_turns) {
                made[rank].store(call + 1, std::memory_order_release);
            }
            if (is_end) {
                for (std::size_t other = 0; other < ranks; ++other) {
                    require(end.facts(other)[0] == fact_of(other, term), "all facts are there");
                }
                ends_at[rank][term++] = call + 1;
                end.begin_term();
                waits = 0;
            }
        }
    }
    void finish() {
        for (std::size_t rank = 1; rank < ranks; ++rank) {
            for (std::size_t term = 0; term <= Calls; ++term) {
                require(ends_at[rank][term] == ends_at[0][term], "all end a term at one call");
            }
        }
    }
};

/// Ranks that make calls before they can look at the shared words: rank r the first `First + r`.
/// Each then tells, once, and looks in each further call.
template <int Ranks, std::uint64_t First, std::uint64_t Calls, bool tells_first = false>
struct Latecomers {
    static constexpr int threads = Ranks;
    static constexpr auto ranks = static_cast<std::size_t>(Ranks);
    Shared shared;
    Shared::Facts facts[2 * ranks];
    std::uint64_t ends_at[ranks] = {}; ///< 0: the term has not ended for the rank.

    Latecomers() { Explorer::current().name(&shared, sizeof shared, "terms"); }

    void run(int thread) {
        const auto rank = static_cast<std::size_t>(thread);
        End end(shared, facts, rank, ranks);
        const std::uint64_t before = First + rank;
        if (tells_first && rank == ranks - 1) { // As if its calls could still end the term.
            End early(shared, facts, rank, ranks);
            early.tell({rank + 1});
        } else {
            end.skip(before);
            end.tell({rank + 1});
        }
        if (tells_first && rank == ranks - 1) {
            end.skip(before);
        }
        for (std::uint64_t call = before + 1; call <= Calls && ends_at[rank] == 0; ++call) {
            if (end.ends()) {
                for (std::size_t other = 0; other < ranks; ++other) {
                    require(end.facts(other)[0] == other + 1, "all facts are there");
                }
                ends_at[rank] = call;
            }
        }
    }
    void finish() {
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            require(ends_at[rank] == ends_at[0], "all end the term at one call");
            require(ends_at[rank] == 0 || ends_at[rank] >= First + ranks,
                    "no call ends it that a rank has made before it could look");
        }
    }
};

} // namespace

int main(int argc, char** argv) {
    return run_worlds(
        argc, argv,
        {
            holds<Terms<2, 4>>("first comer: 2 ranks, 4 calls"),
            holds<Terms<2, 8, false, Bug::none, Order::in_turns>>(
                "first comer: 2 ranks, 8 calls in turns"),
            holds<Terms<2, 3, true>>("first comer: 2 ranks, 3 calls, made again"),
            holds<Terms<3, 2>>("first comer: 3 ranks, 2 calls, 1 preemption",
                               {.preemptions_max = 1}),
            holds_large<Terms<3, 4>>("first comer: 3 ranks, 4 calls, random walks",
                                     {.executions_max = 20'000, .random = true}),
            holds<Latecomers<2, 0, 4>>("first comer: 2 ranks, the second one comes late"),
            holds<Latecomers<2, 1, 4>>("first comer: 2 ranks, both come late"),
            holds_large<Latecomers<3, 0, 4>>("first comer: 3 ranks come late, random walks",
                                             {.executions_max = 20'000, .random = true}),
            caught<Latecomers<2, 1, 4, true>>("first comer: a rank tells before it has skipped"),
            caught<Terms<2, 2>>("first comer: release is relaxed", Fault::release_is_relaxed),
            caught<Terms<2, 2>>("first comer: acquire is relaxed", Fault::acquire_is_relaxed),
            caught<Terms<2, 2, false, Bug::ends_alone>>("first comer: a rank ends a term alone"),
            caught<Terms<3, 2, false, Bug::tells_early>>("first comer: a rank tells twice"),
        });
}

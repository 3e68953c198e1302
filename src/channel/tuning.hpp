// SPDX-License-Identifier: Apache-2.0
// The numbers of waits, each beside the value that switches its rule off. docs/results/ablation.md
// has what each is worth. Times are in ns.
#pragma once

#include "base/tuned.hpp"

#include <cstdint>
#include <limits>

namespace corymb::channel::tuning {

inline constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max() / 4;
inline constexpr int always = 1 << 30;

// What a wait may cost.

/// A sleep with its wake-up. Reasoning: 5 to 50 us, in a virtual machine more. A wait that is awake
/// for as long as a sleep costs at most about doubles its price (the competitive rule). All longer
/// times of waits are multiples of it. Too small: ranks sleep that are needed at once. Too large:
/// they keep CPUs from others.
CORYMB_TUNED Tuned<std::int64_t> sleep_ns{"channel/waits/sleep_ns", 50'000, 0, Origin::reasoned};
/// Yields of a wait, in sleeps. Reasoning: ranks that share a CPU have some turns each before a
/// message comes. Too small: ranks sleep between turns. Too large: yields that nobody needs.
CORYMB_TUNED Tuned<std::int64_t> yield_sleeps{"channel/waits/yield_sleeps", 8, 0, Origin::reasoned};
/// A yield that takes longer, in sleeps, has given a whole time slice to somebody else, unless
/// teammates needed it for turns and copies. Reasoning: schedulers' slices are 0.7 ms and more.
CORYMB_TUNED Tuned<std::int64_t> slice_sleeps{"channel/waits/slice_sleeps", 10, never_ns / 50'000,
                                              Origin::reasoned};
/// Waits of so many sleeps are the partner's doing: budgets shrink. Shorter ones may come from both
/// sides asleep on each other, which only spinning longer than a wake-up takes can end.
CORYMB_TUNED Tuned<std::int64_t> long_wait_sleeps{"channel/waits/long_wait_sleeps", 20,
                                                  never_ns / 50'000, Origin::reasoned};
/// Most that the budget of a spin grows, as a factor. Reasoning: a wake-up in a virtual machine
/// takes several times as long as `sleep_ns` says.
CORYMB_TUNED Tuned<std::int64_t> stretch_most{"channel/waits/stretch_most", 8, 1, Origin::reasoned};
/// Time of a peer for a byte that it moves. Reasoning: a peer copies as fast as this rank, and 2
/// bytes a ns is a slow rate, so that nobody sleeps beside a copy. Off, waits allow for no copies.
CORYMB_TUNED Tuned<double> ns_of_byte{"channel/waits/ns_of_byte", 0.5, 0, Origin::reasoned};

// Looks.

/// Looks before the clock is read. Reasoning: both take some tens of ns then.
CORYMB_TUNED Tuned<int> looks_per_clock{"channel/looks/per_clock", 16, 1, Origin::reasoned};
/// First looks of a rank that has a CPU. Reasoning: about as long as a line takes between packages.
CORYMB_TUNED Tuned<int> looks_alone{"channel/looks/alone", 32, 1, Origin::reasoned};
/// First looks of a rank that shares its CPU: only what is there already counts.
CORYMB_TUNED Tuned<int> looks_crowded{"channel/looks/crowded", 2, 1, Origin::reasoned};

// Ranks that share a CPU.

/// A teammate that runs on another CPU answers within this time. One that does not run there needs
/// a turn first, and may need a turn of one that waits for this CPU before that.
CORYMB_TUNED Tuned<std::int64_t> keep_ns{"channel/turns/keep_ns", 4'000, 0, Origin::reasoned};
/// Turns that a rank gives to a teammate that had better go first. It comes within one or two.
CORYMB_TUNED Tuned<int> given_most{"channel/turns/given_most", 4, 0, Origin::reasoned};
/// Most time that earlier waits may have saved for long yields. Reasoning: a few slices.
CORYMB_TUNED Tuned<std::int64_t> credit_most_ns{"channel/turns/credit_most_ns", 20'000'000, 0,
                                                Origin::reasoned};
/// A waker that ran on the CPU of the sleeper counts as a teammate there for so long. Reasoning: a
/// few slices of a scheduler.
CORYMB_TUNED Tuned<std::int64_t> shared_for_ns{"channel/turns/shared_for_ns", 10'000'000, 0,
                                               Origin::reasoned};

/// Longest pause in which ranks sleep because somebody else uses their CPU, in time slices lost to
/// it. Reasoning: much shorter, and finding out costs a good part of the time; much longer, and
/// ranks sleep long after the stranger has gone.
CORYMB_TUNED Tuned<std::int64_t> pauses_most{"channel/turns/pauses_most", 64, 1, Origin::reasoned};

// Averages that decide between yields and sleeps. With a neighbour on the CPU, waits that yield
// take much longer than waits that sleep. In an MPI program, whose ranks poll between our
// operations, yields are as long now and then, and sleeps take longer still.

/// The part of a wait for a late rank that counts.
CORYMB_TUNED Tuned<std::int64_t> counted_most_ns{"channel/averages/counted_most_ns", 4'000'000,
                                                 never_ns, Origin::reasoned};
/// Waits that an average remembers: few enough to notice a neighbour within tens of milliseconds.
CORYMB_TUNED Tuned<std::int64_t> remembered{"channel/averages/remembered", 32, always,
                                            Origin::reasoned};
/// Waits of either kind from which on averages count.
CORYMB_TUNED Tuned<int> known{"channel/averages/known", 16, always, Origin::reasoned};
/// Answers by averages until sleeps have to be known anew.
CORYMB_TUNED Tuned<int> answers_most{"channel/averages/answers_most", 128, always,
                                     Origin::reasoned};

// Visits.

/// Most time between visits to a wait. A visitor that wants to come more often does so in the
/// beginning of a wait only; to a sleeper on a crowded CPU, whose team has no other work under way,
/// it does not come at all then. Reasoning: each visit to a sleeper takes the CPU from others.
CORYMB_TUNED Tuned<std::int64_t> visits_apart_most_ns{"channel/visits/apart_most_ns", 1'000'000,
                                                      20'000, Origin::reasoned};
/// Shorter waits have no visits, not even urgent ones. Reasoning: a visit takes some tenths of a
/// us.
CORYMB_TUNED Tuned<std::int64_t> urgent_from_ns{"channel/visits/urgent_from_ns", 2'000, 0,
                                                Origin::reasoned};
/// Looks between two urgent visits.
CORYMB_TUNED Tuned<int> looks_per_visit{"channel/visits/looks_per_visit", 16, 1, Origin::reasoned};

/// The longest sleep of a thread that waits for several event counts where the kernel sleeps on one
/// word only. Reasoning: two sleeps and their wake-ups, so that such a thread is awake for a small
/// part of its time. Too small: it only looks. Too large: messages wait for the end of the sleep.
CORYMB_TUNED Tuned<std::int64_t> nap_ns{"channel/waits/nap_ns", 100'000, 1'000, Origin::reasoned};

} // namespace corymb::channel::tuning

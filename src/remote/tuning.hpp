// SPDX-License-Identifier: Apache-2.0
// The numbers by which a scheduler shares a rank's time among its tasks and what they wait for,
// each beside the value that switches its rule off.
#pragma once

#include "base/tuned.hpp"

namespace corymb::remote::tuning {

/// Turns of tasks between two looks at what tasks wait for. Reasoning: a look costs about as much
/// as some turns, and the turns of short tasks are tens of nanoseconds, so messages and timers
/// wait a microsecond or two. Too small: many looks. Too large: a message waits for many tasks.
CORYMB_TUNED Tuned<int> turns_of_a_pass{"remote/turns_of_a_pass", 64, 1, Origin::reasoned};
/// Requests that are served between two passes. Reasoning: as turns. Too small: many passes. Too
/// large: the rank's own tasks wait for many requests.
CORYMB_TUNED Tuned<int> requests_of_a_look{"remote/requests_of_a_look", 64, 1, Origin::reasoned};
/// Calls of its own rank after which a task gives the others their turns. Reasoning: as turns.
/// Too small: loops of such calls pay for turns. Too large: they hold up the others.
CORYMB_TUNED Tuned<int> own_calls_of_a_turn{"remote/own_calls_of_a_turn", 64, 1, Origin::reasoned};
/// Passes between two looks at the clock while tasks can go on. Reasoning: such a look costs as
/// much as a few turns. Too small: short tasks pay for it. Too large: timers are late.
CORYMB_TUNED Tuned<int> passes_of_a_clock{"remote/passes_of_a_clock", 8, 1, Origin::reasoned};
/// Passes in a row in which tasks have only yielded, after which the thread does so, too.
/// Reasoning: a system call costs less than so many passes; what these tasks look for may come from
/// a thread that has no CPU meanwhile. Too small: they look less often. Too large: on a shared CPU
/// each look lasts a time slice.
CORYMB_TUNED Tuned<int> vain_passes_of_a_yield{"remote/vain_passes_of_a_yield", 64, 1 << 30,
                                               Origin::reasoned};
/// Passes between two looks for peers that have ended, while tasks can go on. Reasoning: such a
/// look costs microseconds, and a pass tenths of one at least. Too small: passes are slow. Too
/// large: a busy rank learns late of ends.
CORYMB_TUNED Tuned<int> passes_of_a_watch{"remote/passes_of_a_watch", 16'384, 1, Origin::reasoned};
/// The first sleep after which what tasks wait for is looked at for peers that have ended; the
/// sleeps of one wait double up to the longest. Reasoning: a look costs microseconds.
CORYMB_TUNED Tuned<std::int64_t> first_sleep_ns{"remote/first_sleep_ns", 1'000'000, 20'000'000,
                                                Origin::reasoned};
CORYMB_TUNED Tuned<std::int64_t> longest_sleep_ns{"remote/longest_sleep_ns", 20'000'000, 20'000'000,
                                                  Origin::reasoned};

/// Keys of one call of a shared map that are served before others have their turn. Reasoning: a key
/// costs 50 ns to 1 us in a large map, and a turn as much as one key. Too small: many turns. Too
/// large: calls of single keys wait for one of many.
CORYMB_TUNED Tuned<int> keys_of_a_turn{"remote/keys_of_a_turn", 16, 1'000'000, Origin::reasoned};

/// Looks of a rank that applies operations of a replicated object at what another one holds.
/// Reasoning: that is held for as long as some operations take, tenths of a microsecond. Too small:
/// many tries. Too large: a rank whose peer has no CPU looks in vain.
CORYMB_TUNED Tuned<int> looks_of_a_combiner{"remote/looks_of_a_combiner", 256, 1, Origin::reasoned};
/// Turns that an update of a replicated object gives to other tasks before it sleeps. Reasoning: as
/// looks. Too small: others' operations are waited for asleep. Too large: as above.
CORYMB_TUNED Tuned<int> yields_of_an_update{"remote/yields_of_an_update", 64, 0, Origin::reasoned};

/// Objects that have moved to or from other ranks whose places a rank remembers, beside those that
/// it has made itself. Reasoning: a place has about 200 bytes, so these have some 200 KiB. Too
/// small: calls of more objects are sent back now and then. Too large: memory of objects that may
/// be gone.
CORYMB_TUNED Tuned<int> moved_objects_known{"remote/moved_objects_known", 1024, 1'000'000,
                                            Origin::reasoned};

/// What a rank waits before its event loop goes to sleep. Reasoning: a sleeping loop is woken by
/// the doorbell's thread, and so by two wake-ups in a row, each tens of microseconds. Too small:
/// loops that answer each other pay for sleeps. Too large: other work of the loop waits.
CORYMB_TUNED Tuned<std::int64_t> linger_ns{"remote/linger_ns", 50'000, 0, Origin::reasoned};

/// The longest sleep where a source cannot wake the thread, as requests over several nodes.
/// Reasoning: as long as ranks of a team over nodes nap between looks. Too small: a core is busy
/// with looking. Too large: a message waits for the end of the sleep.
CORYMB_TUNED Tuned<std::int64_t> nap_ns{"remote/nap_ns", 50'000, 1'000, Origin::reasoned};

/// The longest time between two looks for a deadlock while the task of `run` waits; the times
/// double up to it. Reasoning: a look at 10^6 tasks takes tenths of a second, which is little in a
/// minute. Too small: ranks that wait for long look often. Too large: a late deadlock is found
/// late.
CORYMB_TUNED Tuned<std::int64_t> longest_look_pause_ns{
    "remote/longest_look_pause_ns", 60'000'000'000, 1'000'000'000'000'000, Origin::reasoned};

/// The longest wait of a rank that leaves until its last messages to other nodes are on their way.
/// Reasoning: they are short, and a network that has not taken them by then has failed. Off: others
/// may not hear that it has left.
CORYMB_TUNED Tuned<std::int64_t> farewell_ns{"remote/farewell_ns", 1'000'000'000, 0,
                                             Origin::reasoned};

} // namespace corymb::remote::tuning

// SPDX-License-Identifier: Apache-2.0
// The channels that teams run with. Measurements use these channels as well.
#pragma once

#include "channel/exchange_line.hpp"
#include "channel/publication_ring.hpp"
#include "channel/sizes.hpp"
#include "channel/slot_ring.hpp"

namespace corymb::channel {

/// Messages of at most `line_payload` bytes from one rank to another.
template <class Env>
using LineRing = SlotRing<Env, line_payload, line_ring_slots, line_credit_every>;
/// Longer messages, cut into cells. Each cell that is read is free at once.
template <class Env>
using CellRing = LongSlotRing<Env, cell_payload, 1>;
/// Messages of two ranks that write to each other at the same time.
template <class Env>
using PairLine = ExchangeLine<Env, exchange_payload>;
/// Messages of at most `line_payload` bytes from one rank to all of its readers.
template <class Env>
using LinePublication = PublicationRing<Env, line_payload, line_ring_slots>;
/// A LinePublication that owns its memory.
template <class Env>
using OwnedLinePublication = OwnedPublicationRing<Env, line_payload, line_ring_slots>;

} // namespace corymb::channel

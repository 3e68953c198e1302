// SPDX-License-Identifier: Apache-2.0
// What the handles of each kind are asked for.
#pragma once

#include <corymb.h>

#include <cstddef>
#include <cstdint>

namespace corymb::c {

// A number of a handle; `otherwise` for what is no handle (any more) or has no such number.
std::int64_t number_of(const corymb_team* team, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_mailbox* mailbox, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_broadcast_publisher* publisher, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_broadcast_reader* reader, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_multicast_group* group, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_multicast* multicast, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_multicast_token* token, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;
std::int64_t number_of(const corymb_remote* own, corymb_number_kind number,
                       std::int64_t otherwise) noexcept;

// The functions below throw Errc::invalid_argument for what is no handle (any more).

/// Bytes of shared memory.
std::size_t memory_of(const corymb_team* team);
std::size_t memory_of(const corymb_mailbox_group* group);
std::size_t memory_of(const corymb_broadcast_ring* ring);

/// A descriptor of the memory, which the caller closes.
int descriptor_of(const corymb_mailbox_group* group);
int descriptor_of(const corymb_broadcast_ring* ring);
int descriptor_of(const corymb_multicast_group* group);
int descriptor_of(const corymb_remote_group* group);

} // namespace corymb::c

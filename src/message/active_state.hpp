// SPDX-License-Identifier: Apache-2.0
// One rank of active messages: its handlers, calls whose answers are to come, answers that had no
// room yet, and the memory that it offers.
#pragma once

#include "base/one_user.hpp"

#include <corymb/active_message.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace corymb::detail {

/// The header in front of each message.
struct ActiveHeader {
    enum Kind : std::uint8_t { request, answer, failure };
    static constexpr std::uint32_t foreign = ~std::uint32_t{0};

    std::uint64_t number = 0;  ///< Number of the call, given by the caller.
    std::uint32_t code = 0;    ///< Code of a failure: an Errc, or `foreign`.
    std::uint16_t handler = 0; ///< Handler of a request.
    std::uint8_t kind = request;
    std::uint8_t unused = 0;
};
static_assert(sizeof(ActiveHeader) == active_header_bytes);

struct ActiveState {
    ActiveState(Mailbox of, std::chrono::nanoseconds limit);

    /// Throws Errc::invalid_argument inside a handler.
    void require_outside(const char* what) const;
    std::uint64_t begin(Rank to, std::uint16_t handler, std::span<const std::byte> argument);
    std::size_t poll();
    /// Sleeps until there may be something to do, at most until `end_ns` of the clock, and no
    /// longer than a nap.
    void sleep(std::int64_t left_ns, std::int64_t nap_ns_max);
    [[nodiscard]] bool is_done(std::uint64_t number) const;
    /// As `is_done`, after a poll and a check whether the answering rank has closed its mailbox.
    bool look(std::uint64_t number);
    std::vector<std::byte> wait(std::uint64_t number, std::chrono::nanoseconds limit);
    void close();
    /// Throws Errc::invalid_argument when the place is not one.
    std::byte* place(GlobalAddress at, std::size_t bytes, std::size_t alignment) const;

    OneUser user{"rank of active messages"};
    std::optional<Mailbox> box; ///< None when closed.
    const Rank rank;
    const int size;
    const std::size_t bytes_max;
    const std::int64_t deadline_ns;
    std::unordered_map<std::uint16_t, ActiveMessages::Handler> handlers;
    std::unordered_map<std::uint32_t, std::span<std::byte>> regions;
    std::uint32_t next_region = 1;

    struct Pending {
        Rank to = -1;
        bool is_done = false;
        std::vector<std::byte> answer;
        std::exception_ptr error;
    };
    std::unordered_map<std::uint64_t, Pending> pending;

private:
    struct Message {
        Rank to = -1;
        std::vector<std::byte> bytes;
    };

    /// False: no room, or earlier messages wait for that.
    bool try_send(Rank to, std::span<const std::byte> message);
    void flush();
    void take(Rank from, std::span<const std::byte> message);
    void run(Rank from, const ActiveHeader& asked, std::span<const std::byte> argument);
    void settle(Rank from, const ActiveHeader& header, std::span<const std::byte> bytes);
    void fail(Rank rank, const std::exception_ptr& error);
    [[nodiscard]] std::exception_ptr departure_of(Rank gone);

    /// Begins with the clock: answers to an earlier holder of the rank are none to this one.
    std::uint64_t next_number_;
    std::deque<Message> unsent_;
    std::vector<std::byte> frame_; ///< Frame of an answer that is being made.
    std::size_t served_ = 0;
    bool is_running_ = false; ///< A handler is running.
};

} // namespace corymb::detail

// SPDX-License-Identifier: Apache-2.0
#include "message/active_state.hpp"

#include "base/clock.hpp"
#include "base/wait_clock.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace corymb::detail {

namespace {

// Times between looks of a waiting thread: room in a channel, and the end of a mailbox, are not
// announced to it.
constexpr std::int64_t first_nap_ns = 50'000, room_nap_ns = 1'000'000, closed_nap_ns = 10'000'000;
/// First tries to send that only yield: a receiver that polls all the time makes room at once.
constexpr int quick_tries = 64;

std::string name_of(Rank rank) {
    return "rank " + std::to_string(rank);
}

/// A message in one piece.
std::vector<std::byte> framed(const ActiveHeader& header, std::span<const std::byte> bytes) {
    std::vector<std::byte> frame(sizeof header + bytes.size());
    std::memcpy(frame.data(), &header, sizeof header);
    if (!bytes.empty()) {
        std::memcpy(frame.data() + sizeof header, bytes.data(), bytes.size());
    }
    return frame;
}

} // namespace

ActiveState::ActiveState(Mailbox of, std::chrono::nanoseconds limit)
    : box(std::move(of)), rank(box->rank()), size(box->size()),
      bytes_max(box->message_bytes() - std::min(box->message_bytes(), active_header_bytes)),
      deadline_ns(bounded_ns(limit)), next_number_(static_cast<std::uint64_t>(now_ns())),
      frame_(active_header_bytes + bytes_max) {
    if (limit.count() < 0) {
        throw Error(Errc::invalid_argument,
                    "the deadline of active messages is negative; give the longest wait");
    }
    if (bytes_max == 0) {
        throw Error(Errc::invalid_argument,
                    "active messages need an open mailbox whose messages are longer than " +
                        std::to_string(active_header_bytes) + " bytes");
    }
    static_cast<void>(box->has_left(rank)); // Refuses a mailbox of a parent process.
}

void ActiveState::require_outside(const char* what) const {
    if (is_running_) {
        throw Error(Errc::invalid_argument,
                    std::string(what) + " within a handler of " + name_of(rank) +
                        ": a handler must not wait for messages; begin a call and return");
    }
    if (!box) {
        throw Error(Errc::invalid_argument, std::string(what) + ": the active messages of " +
                                                name_of(rank) + " are closed");
    }
}

bool ActiveState::try_send(Rank to, std::span<const std::byte> message) {
    const bool must_queue = std::any_of(unsent_.begin(), unsent_.end(),
                                        [to](const Message& one) { return one.to == to; });
    return !must_queue && box->send(to, message);
}

void ActiveState::flush() {
    for (Message& one : std::exchange(unsent_, {})) {
        try {
            if (!try_send(one.to, one.bytes)) {
                unsent_.push_back(std::move(one));
            }
        } catch (const Error&) { // Nobody is there any more; `look` ends the calls to it.
        }
    }
}

std::uint64_t ActiveState::begin(Rank to, std::uint16_t handler,
                                 std::span<const std::byte> argument) {
    if (!box) {
        require_outside("call");
    }
    if (argument.size() > bytes_max) {
        throw Error(Errc::invalid_argument,
                    "the argument of an active message has at most " + std::to_string(bytes_max) +
                        " bytes here, not " + std::to_string(argument.size()) +
                        "; make the group with a larger MailboxOptions::message_bytes");
    }
    ActiveHeader header;
    header.number = next_number_++;
    header.handler = handler;
    std::vector<std::byte> frame = framed(header, argument);
    WaitClock clock;
    std::int64_t nap_ns = first_nap_ns;
    for (int tries = 0; !try_send(to, frame); ++tries) {
        if (is_running_) { // The frame is sent when the handler has returned.
            unsent_.push_back({to, std::move(frame)});
            break;
        }
        poll();
        const std::int64_t left = deadline_ns - clock.waited_ns();
        if (left <= 0) {
            throw Error(Errc::timeout,
                        name_of(to) + " takes no requests: it must poll, serve or wait", {to});
        }
        if (tries < quick_tries) {
            std::this_thread::yield();
        } else {
            clock.expect_sleep(nap_ns);
            sleep(left, nap_ns);
            nap_ns = std::min(2 * nap_ns, room_nap_ns);
        }
    }
    pending[header.number].to = to;
    return header.number;
}

std::size_t ActiveState::poll() {
    require_outside("poll");
    served_ = 0;
    flush();
    box->probe([this](Rank from, std::span<const std::byte> message) { take(from, message); });
    flush();
    return served_;
}

void ActiveState::sleep(std::int64_t left_ns, std::int64_t nap_ns_max) {
    const std::int64_t most = unsent_.empty() ? nap_ns_max : std::min(nap_ns_max, room_nap_ns);
    try {
        static_cast<void>(box->wait(std::chrono::nanoseconds(std::min(left_ns, most))));
    } catch (const Error& error) {
        if (error.code() != Errc::team_broken) {
            throw;
        }
        for (const Rank ended : error.ranks()) {
            fail(ended, std::current_exception());
        }
    }
}

bool ActiveState::is_done(std::uint64_t number) const {
    const auto found = pending.find(number);
    return found == pending.end() || found->second.is_done;
}

bool ActiveState::look(std::uint64_t number) {
    poll();
    if (is_done(number)) {
        return true;
    }
    const Rank to = pending[number].to;
    if (box->has_left(to)) {
        // Takes the messages that `to` sent before it left, unless other messages hold them up.
        poll();
        if (!is_done(number) && box->has_left(to)) {
            fail(to, departure_of(to));
        }
    }
    return is_done(number);
}

/// Why a rank that has left does not answer.
std::exception_ptr ActiveState::departure_of(Rank gone) {
    try {
        static_cast<void>(box->send(gone, {})); // Is refused, since it has left.
    } catch (const Error& error) {
        if (error.code() == Errc::team_broken) { // The rank's process has ended.
            return std::current_exception();
        }
    }
    return std::make_exception_ptr(
        Error(Errc::invalid_argument, name_of(gone) + " has closed its mailbox without answering",
              {gone}));
}

std::vector<std::byte> ActiveState::wait(std::uint64_t number, std::chrono::nanoseconds limit) {
    const std::int64_t limit_ns = limit.count() > 0 ? bounded_ns(limit) : deadline_ns;
    WaitClock clock;
    while (!is_done(number)) {
        require_outside("wait");
        if (look(number)) {
            break;
        }
        const std::int64_t left = limit_ns - clock.waited_ns();
        if (left <= 0) {
            const Rank to = pending[number].to;
            throw Error(Errc::timeout,
                        name_of(to) + " has not answered an active message; it must poll, serve "
                                      "or wait. The call goes on",
                        {to});
        }
        clock.expect_sleep(closed_nap_ns);
        sleep(left, closed_nap_ns);
    }
    const auto found = pending.find(number);
    if (found == pending.end()) {
        throw Error(Errc::invalid_argument, "this call has no answer, or it was taken already");
    }
    Pending done = std::move(found->second);
    pending.erase(found);
    if (done.error) {
        std::rethrow_exception(done.error);
    }
    return std::move(done.answer);
}

void ActiveState::close() {
    box.reset();
    const auto error = std::make_exception_ptr(
        Error(Errc::invalid_argument, "the active messages of " + name_of(rank) + " are closed"));
    for (auto& [number, one] : pending) {
        one.is_done = true;
        one.error = one.error ? one.error : error;
    }
}

void ActiveState::fail(Rank gone, const std::exception_ptr& error) {
    for (auto& [number, one] : pending) {
        if (one.to == gone && !one.is_done) {
            one.is_done = true;
            one.error = error;
        }
    }
}

void ActiveState::take(Rank from, std::span<const std::byte> message) {
    ActiveHeader header;
    if (message.size() < sizeof header) {
        throw_wrong_length(from, message.size(), sizeof header);
    }
    std::memcpy(&header, message.data(), sizeof header);
    message = message.subspan(sizeof header);
    if (header.kind == ActiveHeader::request) {
        ++served_;
        run(from, header, message);
    } else {
        settle(from, header, message);
    }
}

void ActiveState::run(Rank from, const ActiveHeader& asked, std::span<const std::byte> argument) {
    const std::span answer = std::span(frame_).subspan(sizeof asked);
    ActiveHeader header;
    header.number = asked.number;
    std::size_t bytes = 0;
    const auto fail_with = [&](std::uint32_t code, const char* text) {
        header.kind = ActiveHeader::failure;
        header.code = code;
        bytes = std::min(std::strlen(text), answer.size());
        std::memcpy(answer.data(), text, bytes);
    };
    is_running_ = true;
    try {
        const auto handler = handlers.find(asked.handler);
        if (handler == handlers.end()) {
            throw Error(Errc::invalid_argument, "no handler " + std::to_string(asked.handler));
        }
        header.kind = ActiveHeader::answer;
        bytes = handler->second(from, argument, answer);
        if (bytes > answer.size()) {
            throw Error(Errc::invalid_argument, "the handler says that its answer is too long");
        }
    } catch (const Error& error) {
        fail_with(static_cast<std::uint32_t>(error.code()), error.what());
    } catch (const std::exception& error) {
        fail_with(ActiveHeader::foreign, error.what());
    } catch (...) {
        fail_with(ActiveHeader::foreign, "an exception without a text");
    }
    is_running_ = false;
    std::memcpy(frame_.data(), &header, sizeof header);
    const std::span message = std::span(frame_).first(sizeof header + bytes);
    try {
        if (!try_send(from, message)) {
            unsent_.push_back({from, {message.begin(), message.end()}});
        }
    } catch (const Error&) {
        return; // The asking rank has left.
    }
}

void ActiveState::settle(Rank from, const ActiveHeader& header, std::span<const std::byte> bytes) {
    const auto found = pending.find(header.number);
    if (found == pending.end() || found->second.to != from) {
        return; // Thrown away meanwhile.
    }
    Pending& one = found->second;
    one.is_done = true;
    if (header.kind == ActiveHeader::answer) {
        one.answer.assign(bytes.begin(), bytes.end());
        return;
    }
    const std::string text = name_of(from) + ": " +
                             std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    one.error = header.code == ActiveHeader::foreign
                    ? std::make_exception_ptr(std::runtime_error(text))
                    : std::make_exception_ptr(Error(static_cast<Errc>(header.code), text, {from}));
}

std::byte* ActiveState::place(GlobalAddress at, std::size_t bytes, std::size_t alignment) const {
    const auto refuse = [](const char* text) {
        throw Error(Errc::invalid_argument, text);
    };
    const auto region = regions.find(at.region);
    if (at.owner != rank) {
        refuse("the pointer is another rank's");
    }
    if (region == regions.end()) {
        refuse(at.region != 0 && at.region < next_region ? "this memory was withdrawn"
                                                         : "no such memory");
    }
    const std::span<std::byte> memory = region->second;
    if (at.offset > memory.size() || memory.size() - at.offset < bytes) {
        refuse("out of the memory's range");
    }
    std::byte* const found = memory.data() + at.offset;
    if (reinterpret_cast<std::uintptr_t>(found) % alignment != 0) {
        refuse("not aligned");
    }
    return found;
}

} // namespace corymb::detail

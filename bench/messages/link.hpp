// SPDX-License-Identifier: Apache-2.0
// What is timed: ways to carry messages between two ends, to look at many silent peers, and to tell
// many readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace corymb::bench {

/// Two ends, 0 and 1; each is used by one thread, or one process where `is_between_processes`.
class Link {
public:
    Link() = default;
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    virtual ~Link() = default;
    /// Before anything else, by who uses the end.
    virtual void open(int /*end*/) {}
    /// Writes a whole message, each word of it `value`. False when there is no room.
    [[nodiscard]] virtual bool put(int end, std::uint64_t value) = 0;
    /// Takes at most so many and reads them whole (value_of); `last` is the last value.
    virtual std::uint64_t take(int end, std::uint64_t most, std::uint64_t& last) = 0;
};

/// One receiver and peers that have sent once and are silent now.
class Inbox {
public:
    Inbox() = default;
    Inbox(const Inbox&) = delete;
    Inbox& operator=(const Inbox&) = delete;
    virtual ~Inbox() = default;
    /// Looks at all of them; how many messages there were.
    virtual std::uint64_t look() = 0;
};

/// One publisher and many readers, all of which are drained by one thread.
class Audience {
public:
    Audience() = default;
    Audience(const Audience&) = delete;
    Audience& operator=(const Audience&) = delete;
    virtual ~Audience() = default;
    /// There is room for `burst` messages that nobody has read.
    virtual void publish(std::uint64_t value) = 0;
    /// How many messages all readers have taken together.
    virtual std::uint64_t drain() = 0;
};

inline constexpr std::size_t capacity = 256; ///< Messages that each channel holds.
inline constexpr std::uint64_t burst = 128;

enum class Family : std::uint8_t { corymb, peer, floor };

template <class Kind>
struct Contestant {
    std::string name;
    Family family;
    /// For messages of so many bytes, or for so many peers or readers.
    std::function<std::unique_ptr<Kind>(int)> make;
    bool is_between_processes = false;
    bool streams = true;
    int largest = std::numeric_limits<int>::max(); ///< Bytes, peers or readers that it can do.
};

/// The value of a message whose words are all alike. It reads the whole message, as a receiver does
/// that needs it, and throws std::runtime_error when words differ.
inline std::uint64_t value_of(const void* message, std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, message, sizeof value);
    if (std::memcmp(message, static_cast<const std::byte*>(message) + sizeof value,
                    bytes - sizeof value) != 0) {
        throw std::runtime_error("a message arrived with parts of another one");
    }
    return value;
}

/// A link of this kind for messages of so many bytes: 8 or 256, as the template has words.
template <template <std::size_t> class Kind>
std::unique_ptr<Link> link_of(int bytes) {
    if (bytes == 8) {
        return std::make_unique<Kind<1>>();
    }
    return std::make_unique<Kind<32>>();
}

[[nodiscard]] std::vector<Contestant<Link>> links();
/// FastForward, and those whose headers were found (queues.cpp).
void add_other_queues(std::vector<Contestant<Link>>& all);
[[nodiscard]] std::vector<Contestant<Inbox>> inboxes();
[[nodiscard]] std::vector<Contestant<Audience>> audiences();

} // namespace corymb::bench

// SPDX-License-Identifier: Apache-2.0
#include "tcp/meeting.hpp"

#include "base/clock.hpp"
#include "base/small_file.hpp"
#include "tcp/tuning.hpp"

#include <corymb/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <poll.h>
#include <random>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace corymb::tcp {

namespace {

constexpr std::string_view form = "corymb-tcp-1"; ///< Begins lines, and is in each Hello.
constexpr std::size_t key_digits = 32;

/// A text of bounded length.
template <std::size_t Room>
struct Text {
    std::array<char, Room> bytes{};
    void set(std::string_view text) noexcept {
        std::memcpy(bytes.data(), text.data(), std::min(text.size(), Room - 1));
    }
    /// Also of one that comes without an end.
    [[nodiscard]] std::string get() const { return {bytes.data(), ::strnlen(bytes.data(), Room)}; }
};

struct Hello {
    std::array<char, key_digits> key{}; ///< What comes behind is not looked at before this fits.
    Text<16> form{};
    std::int32_t rank = -1;
    std::int32_t port = 0; ///< Where the others reach the rank.
    Text<128> node{};
};
struct Welcome {
    Text<248> refusal{}; ///< Empty: none.
    std::int32_t rank = -1;
    std::int32_t size = 0;
};
struct Entry {
    Text<64> host{};
    std::int32_t port = 0;
    std::int32_t node = -1;
};

template <class T>
std::span<std::byte> bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

Hello hello_of(const JoinLine& line, Rank rank, int port, std::string_view node) {
    Hello hello;
    std::copy_n(line.key.data(), key_digits, hello.key.begin());
    hello.form.set(form);
    hello.rank = rank;
    hello.port = port;
    hello.node.set(node);
    return hello;
}

/// Takes as long for a wrong key as for the right one.
bool knows(const Hello& hello, const std::string& key) {
    unsigned differs = 0;
    for (std::size_t i = 0; i < key_digits; ++i) {
        differs |= static_cast<unsigned>(hello.key[i] ^ key[i]);
    }
    return differs == 0;
}

/// Somebody who has connected, and has not said all of his Hello.
struct Guest {
    Descriptor socket;
    Moment until;
    Hello hello{};
    std::size_t said = 0;
};

/// Takes in those who know the key, one after the other. Others cost a connection for a while.
class Door {
public:
    Door(int listener, const std::string& key, int size)
        : listener_(listener), key_(&key),
          guests_most_(static_cast<std::size_t>(size) + tuning::strangers_most) {}

    /// The next one. A socket below 0: none until `end`.
    std::pair<Descriptor, Hello> next(Moment end) {
        for (Moment now = now_ns(); now < end; now = now_ns()) {
            std::erase_if(guests_, [now](const Guest& one) { return one.until < now; });
            wait(end - now);
            if (Descriptor socket = accept_at(listener_); socket.number() >= 0) {
                if (guests_.size() == guests_most_) {
                    guests_.erase(guests_.begin());
                }
                guests_.push_back({std::move(socket), now_ns() + tuning::stranger_ns});
            }
            for (std::size_t i = 0; i < guests_.size();) {
                const Answer answer = listen_to(guests_[i]);
                if (answer == Answer::silence) {
                    ++i;
                    continue;
                }
                Guest guest = std::move(guests_[i]);
                guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i));
                if (answer == Answer::hello) {
                    return {std::move(guest.socket), guest.hello};
                }
            }
        }
        return {Descriptor(-1), Hello()};
    }

private:
    enum class Answer { silence, hello, nonsense };

    void wait(std::int64_t left_ns) {
        std::vector<pollfd> wanted{{listener_, POLLIN, 0}};
        for (const Guest& one : guests_) {
            wanted.push_back({one.socket.number(), POLLIN, 0});
        }
        constexpr std::int64_t ms = 1'000'000;
        ::poll(wanted.data(), wanted.size(),
               static_cast<int>(std::min<std::int64_t>(left_ns / ms + 1, 1'000)));
    }
    Answer listen_to(Guest& guest) const {
        const std::span<std::byte> room = bytes_of(guest.hello).subspan(guest.said);
        const ssize_t some = ::read(guest.socket.number(), room.data(), room.size());
        if (some < 0 && (errno == EAGAIN || errno == EINTR)) {
            return Answer::silence;
        }
        guest.said += static_cast<std::size_t>(std::max<ssize_t>(some, 0));
        if (some <= 0 || (guest.said >= key_digits && !knows(guest.hello, *key_))) {
            return Answer::nonsense;
        }
        return guest.said < sizeof(Hello) ? Answer::silence : Answer::hello;
    }

    int listener_;
    const std::string* key_;
    std::size_t guests_most_;
    std::vector<Guest> guests_; ///< The oldest first.
};

[[noreturn]] void miss(const std::vector<Descriptor>& sockets, Rank from) {
    std::vector<int> missing;
    for (std::size_t rank = static_cast<std::size_t>(from); rank < sockets.size(); ++rank) {
        if (sockets[rank].number() < 0) {
            missing.push_back(static_cast<int>(rank));
        }
    }
    throw Error(Errc::timeout,
                fmt::format("{} of {} ranks have not joined over TCP in time; see "
                            "TcpOptions::deadline",
                            missing.size(), sockets.size()),
                missing);
}

std::vector<Descriptor> no_sockets(int size) {
    std::vector<Descriptor> sockets;
    for (int rank = 0; rank < size; ++rank) {
        sockets.emplace_back(-1);
    }
    return sockets;
}

/// Why a rank cannot join; empty: it can.
std::string refusal(const Hello& hello, const std::vector<Descriptor>& sockets) {
    const auto size = static_cast<int>(sockets.size());
    if (hello.form.get() != form) {
        return "it runs another version of corymb";
    }
    if (hello.rank == 0 || hello.rank >= size) {
        return fmt::format("rank {} cannot join; the ranks that do are 1 to {}", hello.rank,
                           size - 1);
    }
    return hello.rank > 0 && sockets[static_cast<std::size_t>(hello.rank)].number() >= 0
               ? fmt::format("another process has joined as rank {}", hello.rank)
               : "";
}

} // namespace

std::string to_text(const JoinLine& line) {
    return fmt::format("{}:{}:{}:{}:{}", form, line.size, line.key, line.at.port, line.at.host);
}

JoinLine join_line_from(std::string_view text) {
    std::array<std::string_view, 4> parts;
    std::string_view rest = text;
    for (std::string_view& part : parts) {
        const std::size_t length = std::min(rest.find(':'), rest.size());
        part = rest.substr(0, length);
        rest.remove_prefix(std::min(length + 1, rest.size()));
    }
    const auto number = [](std::string_view digits, auto& to) {
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), to);
        return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
    };
    JoinLine line;
    line.key = parts[2];
    line.at.host = rest;
    if (parts[0] != form || !number(parts[1], line.size) || line.size < 1 ||
        line.key.size() != key_digits || !number(parts[3], line.at.port) || rest.empty()) {
        throw Error(Errc::invalid_argument, "this is no line to join by; give the one that "
                                            "TcpCarrier::join_line has on rank 0");
    }
    return line;
}

std::string random_key() {
    std::random_device random;
    return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string own_node() {
    const auto unknown = [](const std::string& file) {
        return Error(Errc::unsupported,
                     file + " cannot be read, so the node is not known; give TcpOptions::node");
    };
    const char* const boot = "/proc/sys/kernel/random/boot_id";
    const std::optional<std::string> read = read_small_file(boot);
    if (!read.has_value()) {
        throw unknown(boot);
    }
    std::string node = read->substr(0, 36);
    for (const char* const space : {"net", "ipc", "pid"}) {
        const std::string file = std::string("/proc/self/ns/") + space;
        struct stat status{};
        if (::stat(file.c_str(), &status) != 0) {
            throw unknown(file);
        }
        node += fmt::format(" {}", status.st_ino);
    }
    return node + fmt::format(" {}", ::geteuid());
}

Met meet_all(const JoinLine& line, int listener, std::string_view node, Moment end) {
    Met met{0, {}, no_sockets(line.size)};
    std::vector<Hello> hellos(met.sockets.size());
    hellos[0].node.set(node);
    std::vector<std::pair<Descriptor, Hello>> unnumbered;
    const auto number_them = [&] {
        auto next = unnumbered.begin();
        for (std::size_t rank = 1; rank < met.sockets.size() && next != unnumbered.end(); ++rank) {
            if (met.sockets[rank].number() < 0) {
                met.sockets[rank] = std::move(next->first);
                hellos[rank] = (next++)->second;
            }
        }
    };
    Door door(listener, line.key, line.size);
    for (int come = 1; come < line.size;) {
        auto [socket, hello] = door.next(end);
        if (socket.number() < 0) {
            number_them();
            miss(met.sockets, 1);
        }
        Welcome no;
        no.refusal.set(refusal(hello, met.sockets));
        if (!no.refusal.get().empty()) {
            write_all(socket.number(), bytes_of(no), end);
            continue;
        }
        ++come;
        if (hello.rank < 0) {
            unnumbered.emplace_back(std::move(socket), hello);
        } else {
            met.sockets[static_cast<std::size_t>(hello.rank)] = std::move(socket);
            hellos[static_cast<std::size_t>(hello.rank)] = hello;
        }
    }
    number_them();
    std::map<std::string, int> nodes;
    std::vector<Entry> entries(met.sockets.size());
    for (std::size_t rank = 0; rank < entries.size(); ++rank) {
        const int number =
            nodes.emplace(hellos[rank].node.get(), static_cast<int>(nodes.size())).first->second;
        entries[rank].node = number;
        met.node_of_rank.push_back(number);
        if (rank != 0) {
            entries[rank].host.set(place_of_peer(met.sockets[rank].number()).host);
            entries[rank].port = hellos[rank].port;
        }
    }
    for (std::size_t rank = 1; rank < entries.size(); ++rank) {
        Welcome yes{{}, static_cast<Rank>(rank), line.size};
        const int socket = met.sockets[rank].number();
        // One that has ended meanwhile is missed by the others, and by the first message to it.
        static_cast<void>(write_all(socket, bytes_of(yes), end) &&
                          write_all(socket, std::as_bytes(std::span(entries)), end));
    }
    return met;
}

Met meet_first(const JoinLine& line, Rank wanted, std::string_view node, Moment end) {
    Descriptor first = connect_to(line.at, end, "rank 0");
    const Descriptor listener = listen_at(place_of(first.number()).host, line.size);
    const int port = place_of(listener.number()).port;
    Hello hello = hello_of(line, wanted, port, node);
    Welcome welcome;
    std::vector<Entry> entries(static_cast<std::size_t>(line.size));
    const bool is_heard = write_all(first.number(), bytes_of(hello), end) &&
                          read_all(first.number(), bytes_of(welcome), end);
    if (is_heard && !welcome.refusal.get().empty()) {
        throw Error(Errc::invalid_argument, "rank 0 refuses this rank: " + welcome.refusal.get());
    }
    if (!is_heard || welcome.size != line.size || welcome.rank < 1 || welcome.rank >= line.size ||
        !read_all(first.number(), std::as_writable_bytes(std::span(entries)), end)) {
        throw Error(Errc::io, "rank 0 has closed the connection: it has ended, or the line to join "
                              "by is of another start");
    }
    Met met{welcome.rank, {}, no_sockets(line.size)};
    for (const Entry& entry : entries) {
        met.node_of_rank.push_back(entry.node);
    }
    met.sockets[0] = std::move(first);
    hello.rank = met.rank;
    for (Rank other = 1; other < met.rank; ++other) {
        const Entry& entry = entries[static_cast<std::size_t>(other)];
        Descriptor made = connect_to({entry.host.get(), static_cast<std::uint16_t>(entry.port)},
                                     end, fmt::format("rank {}", other));
        write_all(made.number(), bytes_of(hello), end);
        met.sockets[static_cast<std::size_t>(other)] = std::move(made);
    }
    Door door(listener.number(), line.key, line.size);
    for (Rank come = met.rank + 1; come < line.size;) {
        auto [socket, said] = door.next(end);
        if (socket.number() < 0) {
            miss(met.sockets, met.rank + 1);
        }
        if (said.rank > met.rank && refusal(said, met.sockets).empty()) {
            ++come;
            met.sockets[static_cast<std::size_t>(said.rank)] = std::move(socket);
        }
    }
    return met;
}

} // namespace corymb::tcp

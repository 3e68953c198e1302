// SPDX-License-Identifier: Apache-2.0
#include "tcp/socket.hpp"

#include "base/clock.hpp"

#include "tcp/tuning.hpp"

#include <corymb/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <linux/sockios.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <system_error>

namespace corymb::tcp {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& why) {
    throw Error(Errc::io, what + ": " + why);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const Place& place, const std::string& what) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int result =
            ::getaddrinfo(place.host.c_str(), std::to_string(place.port).c_str(), &hints, &found);
        result != 0) {
        fail(what, ::gai_strerror(result));
    }
    return {found, &::freeaddrinfo};
}

Descriptor socket_for(const addrinfo& address) {
    return Descriptor(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

template <class Name>
Place place_by(const Name& name, int socket) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    char host[NI_MAXHOST] = "";
    char port[NI_MAXSERV] = "";
    if (name(socket, general, &length) != 0) {
        fail("a connection has no address", text_of(errno));
    }
    if (const int result = ::getnameinfo(general, length, host, sizeof host, port, sizeof port,
                                         NI_NUMERICHOST | NI_NUMERICSERV);
        result != 0) {
        fail("a connection has no address", ::gai_strerror(result));
    }
    return {host, static_cast<std::uint16_t>(std::strtoul(port, nullptr, 10))};
}

void set(int socket, int level, int option, int value) noexcept {
    ::setsockopt(socket, level, option, &value, sizeof value);
}

/// Waits for `events`. Throws Errc::timeout.
void wait_for(int socket, short events, Moment end) {
    pollfd wanted{socket, events, 0};
    for (;;) {
        const std::int64_t left = end - now_ns();
        if (left <= 0) {
            throw Error(Errc::timeout, "a rank that joins over TCP has waited too long for the "
                                       "others; see TcpOptions::deadline");
        }
        constexpr std::int64_t ms = 1'000'000;
        if (::poll(&wanted, 1, static_cast<int>(std::min<std::int64_t>(left / ms + 1, 1'000))) >
            0) {
            return;
        }
    }
}

/// `transfer(done)` is as read and write.
template <class Transfer>
bool transfer_all(int socket, std::size_t bytes, short events, Moment end,
                  const Transfer& transfer) {
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t some = transfer(done);
        if (some > 0) {
            done += static_cast<std::size_t>(some);
        } else if (some < 0 && (errno == EAGAIN || errno == EINTR)) {
            wait_for(socket, events, end);
        } else {
            return false;
        }
    }
    return true;
}

} // namespace

std::string text_of(int error) {
    return std::generic_category().message(error);
}

Place place_of(int socket) {
    return place_by(::getsockname, socket);
}

Place place_of_peer(int socket) {
    return place_by(::getpeername, socket);
}

bool is_loopback(int socket) noexcept {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length);
    if (address.ss_family == AF_INET6) {
        const in6_addr& number = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(&number) != 0;
    }
    constexpr std::uint32_t first_byte = 127;
    const in_addr& number = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    return address.ss_family == AF_INET && ntohl(number.s_addr) >> 24U == first_byte;
}

Descriptor listen_at(const std::string& host, int ranks) {
    const int backlog = ranks + static_cast<int>(tuning::strangers_most);
    const std::string what = "ranks cannot join at " + host;
    const Addresses addresses = addresses_of({host, 0}, what);
    int error = 0;
    for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        Descriptor listener = socket_for(*one);
        if (listener.number() >= 0 &&
            ::bind(listener.number(), one->ai_addr, one->ai_addrlen) == 0 &&
            ::listen(listener.number(), backlog) == 0) {
            return listener;
        }
        error = errno;
    }
    fail(what, text_of(error));
}

Descriptor accept_at(int listener) {
    Descriptor made(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (made.number() >= 0) {
        set(made.number(), IPPROTO_TCP, TCP_NODELAY, 1);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        fail("a connection cannot be taken; see ulimit -n", text_of(errno));
    }
    return made;
}

Descriptor connect_to(const Place& place, Moment end, const std::string& whom) {
    const std::string what =
        whom + " cannot be reached at " + place.host + ", port " + std::to_string(place.port);
    const Addresses addresses = addresses_of(place, what);
    int error = 0;
    for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
        Descriptor made = socket_for(*one);
        if (made.number() < 0 || (::connect(made.number(), one->ai_addr, one->ai_addrlen) != 0 &&
                                  errno != EINPROGRESS)) {
            error = errno;
            continue;
        }
        wait_for(made.number(), POLLOUT, end);
        socklen_t length = sizeof error;
        ::getsockopt(made.number(), SOL_SOCKET, SO_ERROR, &error, &length);
        if (error == 0) {
            set(made.number(), IPPROTO_TCP, TCP_NODELAY, 1);
            return made;
        }
    }
    fail(what, text_of(error));
}

bool write_all(int socket, std::span<const std::byte> bytes, Moment end) {
    return transfer_all(socket, bytes.size(), POLLOUT, end, [&](std::size_t done) {
        return ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    });
}

bool read_all(int socket, std::span<std::byte> bytes, Moment end) {
    return transfer_all(socket, bytes.size(), POLLIN, end, [&](std::size_t done) {
        return ::recv(socket, bytes.data() + done, bytes.size() - done, 0);
    });
}

void keep_asking(int socket, std::chrono::seconds lost_after) {
    const auto all = static_cast<int>(lost_after.count());
    const int half = all / 2;
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, all - half);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, std::max(1, half / tuning::probes));
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, tuning::probes);
}

// The kernel sends no sign of life while it has data to send. TCP_USER_TIMEOUT, made for that, also
// ends connections to peers whose kernel answers that their buffer is full.
std::chrono::milliseconds silence_of(int socket) noexcept {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
        return {};
    }
    // A full buffer has unanswered probes, too; each waits longer.
    const bool waits =
        info.tcpi_unacked != 0 ? info.tcpi_retransmits != 0 : info.tcpi_probes >= tuning::probes;
    return std::chrono::milliseconds(waits ? info.tcpi_last_ack_recv : 0);
}

bool has_delivered(int socket) noexcept {
    int left = 0;
    if (::ioctl(socket, SIOCOUTQ, &left) != 0 || left == 0) {
        return true;
    }
    tcp_info info{}; // What a peer has refused is left for ever.
    socklen_t length = sizeof info;
    return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
           info.tcpi_state == TCP_CLOSE;
}

} // namespace corymb::tcp
